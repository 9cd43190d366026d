import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  Sequelize,
} from 'sequelize'

export const ORDER_STATUSES = ['Pending', 'Shipped', 'Delivered', 'Cancelled'] as const

export class Order extends Model<InferAttributes<Order>, InferCreationAttributes<Order>> {
  declare id: CreationOptional<number>
  declare product: string
  /** In euros. */
  declare total: CreationOptional<number | null>
  declare status: CreationOptional<(typeof ORDER_STATUSES)[number]>
  declare rowVersion: CreationOptional<number>
}

/** Connects the model to a SQLite file, by sqlite3 or another driver. */
export function connect(storage: string, driver?: object): Sequelize {
  const dialectModule = driver === undefined ? {} : { dialectModule: driver }
  const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false, ...dialectModule })

  Order.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      product: { type: DataTypes.STRING(100), allowNull: false, validate: { len: [1, 100] } },
      total: { type: DataTypes.DECIMAL(10, 2), validate: { min: 0 } },
      status: { type: DataTypes.ENUM(...ORDER_STATUSES), allowNull: false, defaultValue: 'Pending' },
      // Declared, it is in lists and events too: the page tells by it which of two states of an order is the newer one.
      rowVersion: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
    },
    { sequelize, modelName: 'Order', timestamps: false },
  )

  return sequelize
}
