import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'

/** Number of lines per order. */
export const SIZE = 20

export interface Orders {
  readonly Order: ModelStatic<Model>
  readonly Line: ModelStatic<Model>
  readonly Part: ModelStatic<Model>
}

/** Defines models of orders, their lines, and parts of the lines. */
export function defineOrders(sequelize: Sequelize): Orders {
  const plain = { timestamps: false }
  const Order = sequelize.define('Order', { number: { type: DataTypes.INTEGER, unique: true } }, plain)
  const Line = sequelize.define('Line', { place: DataTypes.INTEGER }, plain)
  const Part = sequelize.define('Part', { name: DataTypes.STRING }, plain)
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  Line.hasMany(Part, { as: 'parts', foreignKey: 'lineId' })
  return { Order, Line, Part }
}
