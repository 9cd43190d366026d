import { DataTypes, type Model, type ModelStatic, type Options, Sequelize } from 'sequelize'

export interface World {
  readonly sequelize: Sequelize
  readonly Team: ModelStatic<Model>
  readonly Member: ModelStatic<Model>
  readonly Ticket: ModelStatic<Model>
}

export const TEAMS = 1000
export const USERS = 5000

/** Defines tickets of teams. Members of a team may see its tickets. Foreign keys have indexes. */
export function defineWorld(options: Options): World {
  const sequelize = new Sequelize({ ...options, logging: false })
  const plain = { timestamps: false, underscored: true }
  const Team = sequelize.define('Team', { name: DataTypes.STRING(50) }, { ...plain, tableName: 'teams' })
  const Member = sequelize.define(
    'Member',
    { teamId: DataTypes.INTEGER, userId: DataTypes.INTEGER },
    {
      ...plain,
      tableName: 'members',
      indexes: [{ fields: ['team_id', 'user_id'] }, { fields: ['user_id', 'team_id'] }],
    },
  )
  const Ticket = sequelize.define(
    'Ticket',
    {
      title: { type: DataTypes.STRING(50), allowNull: false },
      level: DataTypes.INTEGER,
      teamId: DataTypes.INTEGER,
      ownerId: DataTypes.INTEGER,
    },
    { ...plain, tableName: 'tickets', indexes: [{ fields: ['team_id'] }, { fields: ['owner_id'] }] },
  )
  Ticket.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  Team.hasMany(Member, { as: 'members', foreignKey: 'teamId', constraints: false })
  return { sequelize, Team, Member, Ticket }
}

/** Teams that a user is a member of. */
export function teamsOf(user: number): readonly number[] {
  return [1 + (user % TEAMS), 1 + ((user * 7 + 3) % TEAMS)]
}

const AT_ONCE = 5000

export async function fillWorld({ sequelize, Team, Member, Ticket }: World, rows: number): Promise<void> {
  await sequelize.sync()
  const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)
  await Team.bulkCreate(numbers(TEAMS).map((id) => ({ id, name: `Team ${id}` })))
  const members = numbers(USERS).flatMap((userId) => teamsOf(userId).map((teamId) => ({ teamId, userId })))
  for (let at = 0; at < members.length; at += AT_ONCE) await Member.bulkCreate(members.slice(at, at + AT_ONCE))
  for (let at = 0; at < rows; at += AT_ONCE) {
    const tickets = numbers(Math.min(AT_ONCE, rows - at)).map((number) => {
      const id = at + number
      return {
        title: `Ticket ${id}`,
        level: id % 10,
        teamId: 1 + ((id * 37) % TEAMS),
        ownerId: 1 + ((id * 11) % USERS),
      }
    })
    await Ticket.bulkCreate(tickets)
  }
  const analyze = sequelize.getDialect() === 'mysql' ? 'ANALYZE TABLE tickets, members, teams' : 'ANALYZE'
  await sequelize.query(analyze)
}
