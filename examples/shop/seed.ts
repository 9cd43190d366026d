import type { Sequelize } from 'sequelize'
import { Customer, Order, OrderLine, Product, ProductTag, Stock, Tag, Warehouse } from './models.js'

const PRODUCTS: readonly (readonly [sku: string, name: string, price: number, tags: readonly number[]])[] = [
  ['NET-1', 'Net', 12.5, [1]],
  ['BALL-7', 'Basketball, size 7', 29.9, [1, 2]],
  ['SHOE-46', 'Shoes, size 46', 139, [2]],
  ['HOOP-1', 'Hoop with backboard', 249, []],
]

/** Creates the tables, and inserts the records of a small shop. */
export async function seed(sequelize: Sequelize): Promise<void> {
  // In this mode, readers of the file do not wait for writers. SQLite stores the mode in the file.
  await sequelize.query('PRAGMA journal_mode = WAL')
  await sequelize.sync()
  await Customer.bulkCreate([
    { name: 'Ewa', city: 'Lublin' },
    { name: 'Jan', city: 'Gdynia' },
  ])
  await Tag.bulkCreate(['court', 'player', 'sale'].map((name) => ({ name })))
  await Product.bulkCreate(PRODUCTS.map(([sku, name, price]) => ({ sku, name, price })))
  await ProductTag.bulkCreate(
    PRODUCTS.flatMap(([, , , tags], index) => tags.map((tagId) => ({ productId: index + 1, tagId }))),
  )
  await Order.bulkCreate([
    { customerId: 1, status: 'Paid', placedAt: new Date('2026-11-01T10:00:00Z') },
    { customerId: 2, placedAt: new Date('2026-11-20T18:30:00Z') },
  ])
  await OrderLine.bulkCreate([
    { orderId: 1, productId: 1, quantity: 2 },
    { orderId: 1, productId: 4, quantity: 1 },
    { orderId: 2, productId: 2, quantity: 5 },
  ])
  await Warehouse.bulkCreate([{ city: 'Lublin' }, { city: 'Gdynia' }])
  await Stock.bulkCreate([
    { warehouseId: 1, productId: 1, quantity: 40 },
    { warehouseId: 1, productId: 2, quantity: 3 },
    { warehouseId: 2, productId: 2, quantity: 12 },
  ])
}
