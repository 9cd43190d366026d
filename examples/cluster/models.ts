import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize'

export class Order extends Model<InferAttributes<Order>, InferCreationAttributes<Order>> {
  declare id: CreationOptional<number>
  declare product: string
  declare total: number | null
  declare status: CreationOptional<string>
}

export function define(sequelize: Sequelize): typeof Order {
  return Order.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      product: { type: DataTypes.STRING(100), allowNull: false },
      total: DataTypes.DECIMAL(10, 2),
      status: {
        type: DataTypes.ENUM('Pending', 'Shipped', 'Delivered', 'Cancelled'),
        allowNull: false,
        defaultValue: 'Pending',
      },
    },
    { sequelize, modelName: 'Order', timestamps: false },
  )
}
