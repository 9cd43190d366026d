import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, hasRole, Operations } from '../../lib/index.js'
import { openStage, type Stage } from './stage.js'
import { identity } from './tokens.js'

/**
 * Players and teams with parts that callers may not see. Each of the two models has a masked field (`salary`, `budget`)
 * and an excluded field (`secret`, `hidden`). Each model also has a relation to a resource that only keepers may list
 * (`vault`), and a relation without a resource (`club`). All these names are as long as the names `wanted` and
 * `absent`, which do not exist.
 */
export interface Guarded extends Stage {
  readonly Player: ModelStatic<Model>
  readonly Team: ModelStatic<Model>
  readonly Vault: ModelStatic<Model>
  /** Errors reported to `onError`. */
  readonly errors: unknown[]
}

export async function openGuarded(
  options: { readonly player?: CrudOptions; readonly team?: CrudOptions; readonly vault?: CrudOptions } = {},
): Promise<Guarded> {
  const errors: unknown[] = []
  const common: CrudOptions = { identity, operations: Operations.AllWithBulk, onError: (error) => errors.push(error) }
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Club = sequelize.define('Club', { name: DataTypes.STRING, secret: DataTypes.STRING }, plain)
    const Vault = sequelize.define('Vault', { name: DataTypes.STRING, code: DataTypes.STRING }, plain)
    const Team = sequelize.define(
      'Team',
      {
        name: { type: DataTypes.STRING(50), allowNull: false },
        budget: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
        hidden: DataTypes.STRING,
      },
      plain,
    )
    const Player = sequelize.define(
      'Player',
      {
        name: { type: DataTypes.STRING(50), allowNull: false },
        level: { type: DataTypes.INTEGER, validate: { min: 0, max: 100 } },
        email: { type: DataTypes.STRING, unique: true },
        salary: DataTypes.INTEGER,
        secret: DataTypes.STRING,
        extra: DataTypes.JSON,
      },
      plain,
    )
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    Player.belongsTo(Vault, { as: 'vault', foreignKey: 'vaultId' })
    Vault.hasMany(Player, { as: 'owners', foreignKey: 'vaultId' })
    Team.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
    app.use(
      crudRouter(Player, {
        ...common,
        mask: { salary: 'payroll' },
        fields: { secret: { exclude: true } },
        ...options.player,
      }),
    )
    app.use(
      crudRouter(Team, {
        ...common,
        mask: { budget: 'finance' },
        fields: { hidden: { exclude: true } },
        ...options.team,
      }),
    )
    app.use(
      crudRouter(Vault, { ...common, authorizePolicy: hasRole('keeper'), mask: { code: 'keeper' }, ...options.vault }),
    )
  })
  const { sequelize } = stage
  const [Player, Team, Vault] = [sequelize.model('Player'), sequelize.model('Team'), sequelize.model('Vault')]
  await sequelize.model('Club').bulkCreate([{ name: 'Athletic', secret: 'bankrupt' }])
  await Vault.bulkCreate([
    { name: 'North', code: '1111' },
    { name: 'South', code: '2222' },
  ])
  await Team.bulkCreate([
    { name: 'Lakers', budget: 900, hidden: 'sold', clubId: 1 },
    { name: 'Celtics', budget: 100, hidden: 'kept' },
  ])
  await Player.bulkCreate([
    {
      name: 'Jan',
      level: 42,
      email: 'jan@test.pl',
      salary: 5000,
      secret: 'aa',
      extra: { pin: 1 },
      teamId: 1,
      vaultId: 1,
    },
    {
      name: 'Anna',
      level: 75,
      email: 'anna@test.pl',
      salary: 8000,
      secret: 'bb',
      extra: { pin: 2 },
      teamId: 2,
      vaultId: 2,
    },
    { name: 'Piotr', level: 20, email: 'piotr@test.pl', salary: 3000, secret: 'cc', extra: { pin: 3 }, teamId: 1 },
    { name: 'Kasia', level: 55, email: 'kasia@test.pl', salary: 6000, secret: 'dd', extra: { pin: 4 } },
  ])
  return { ...stage, Player, Team, Vault, errors }
}
