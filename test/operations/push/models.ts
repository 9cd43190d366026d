import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'

export function defineOrder(sequelize: Sequelize): ModelStatic<Model> {
  return sequelize.define(
    'Order',
    { product: { type: DataTypes.STRING(100), allowNull: false }, rowVersion: { type: DataTypes.INTEGER } },
    { timestamps: false },
  )
}
