import type { Sequelize } from 'sequelize'
import { Order } from './models.js'

/** Creates the table again and fills it. */
export async function seed(sequelize: Sequelize): Promise<void> {
  // In this mode, readers and writers of the file do not wait for each other.
  await sequelize.query('PRAGMA journal_mode = WAL')
  await sequelize.sync({ force: true })
  await Order.bulkCreate([
    { product: 'Basketball, size 7', total: 29.9, status: 'Delivered' },
    { product: 'Whistle', total: 4.5, status: 'Delivered' },
    { product: 'Jersey, blue, number 23', total: 89.5, status: 'Shipped' },
    { product: 'Hoop with backboard', total: 249, status: 'Cancelled' },
    { product: 'Shoes, size 46', total: 139, status: 'Shipped' },
    { product: 'Net', total: 12.5 },
    { product: 'Scoreboard', total: 1890 },
    { product: 'Tickets for the final' },
  ])
}
