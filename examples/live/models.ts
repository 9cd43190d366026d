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
  /** Amount in euros. */
  declare total: CreationOptional<number | null>
  declare status: CreationOptional<(typeof ORDER_STATUSES)[number]>
  declare rowVersion: CreationOptional<number>
}

/** Connects the model to a SQLite file. The default driver is sqlite3. */
export function connect(storage: string, driver?: object): Sequelize {
  const dialectModule = driver === undefined ? {} : { dialectModule: driver }
  const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false, ...dialectModule })

  Order.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      product: { type: DataTypes.STRING(100), allowNull: false, validate: { len: [1, 100] } },
      total: { type: DataTypes.DECIMAL(10, 2), validate: { min: 0 } },
      status: { type: DataTypes.ENUM(...ORDER_STATUSES), allowNull: false, defaultValue: 'Pending' },
      // The version is declared as an attribute, so that lists and events contain it. The page compares versions to
      // find the newer state of an order.
      rowVersion: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
    },
    { sequelize, modelName: 'Order', timestamps: false },
  )

  return sequelize
}
