import {
  type CreationOptional,
  DataTypes,
  type ForeignKey,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  Sequelize,
} from 'sequelize'

export class Team extends Model<InferAttributes<Team>, InferCreationAttributes<Team>> {
  declare id: CreationOptional<number>
  declare name: string
  declare description: CreationOptional<string | null>
  declare maxMembers: CreationOptional<number>
  declare createdAt: CreationOptional<Date>
}

export class Player extends Model<InferAttributes<Player>, InferCreationAttributes<Player>> {
  declare id: CreationOptional<number>
  declare name: string
  declare level: CreationOptional<number>
  declare email: CreationOptional<string | null>
  declare salary: CreationOptional<number | null>
  declare teamId: ForeignKey<number | null>
  declare createdAt: CreationOptional<Date>
}

export const ORDER_STATUSES = ['Pending', 'Shipped', 'Delivered', 'Cancelled'] as const

export class Order extends Model<InferAttributes<Order>, InferCreationAttributes<Order>> {
  declare id: CreationOptional<number>
  declare product: string
  declare total: CreationOptional<number | null>
  declare status: CreationOptional<(typeof ORDER_STATUSES)[number]>
}

/**
 * Connects the models to a SQLite file. The default driver is sqlite3. The models are plain Sequelize models and do not
 * depend on the API.
 */
export function connect(storage: string, driver?: object): Sequelize {
  const dialectModule = driver === undefined ? {} : { dialectModule: driver }
  const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false, ...dialectModule })

  Team.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
      description: DataTypes.STRING,
      maxMembers: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 15 },
      createdAt: DataTypes.DATE,
    },
    { sequelize, modelName: 'Team', updatedAt: false },
  )

  Player.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
      level: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1, validate: { min: 1, max: 100 } },
      email: { type: DataTypes.STRING, validate: { isEmail: true } },
      salary: DataTypes.DECIMAL(10, 2),
      teamId: DataTypes.INTEGER,
      createdAt: DataTypes.DATE,
    },
    { sequelize, modelName: 'Player', updatedAt: false },
  )

  Order.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      product: { type: DataTypes.STRING(100), allowNull: false },
      total: DataTypes.DECIMAL(10, 2),
      status: { type: DataTypes.ENUM(...ORDER_STATUSES), allowNull: false, defaultValue: 'Pending' },
    },
    { sequelize, modelName: 'Order', timestamps: false },
  )

  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  return sequelize
}
