import { connect, type DatabaseChoice } from './database.js'
import { define } from './models.js'

/** Creates the table and inserts two orders. */
export async function seed(choice: DatabaseChoice): Promise<void> {
  const sequelize = connect(choice, choice.name)
  const Order = define(sequelize)
  await sequelize.sync()
  await Order.bulkCreate([
    { product: 'Keyboard', total: 129.9 },
    { product: 'Monitor', total: 349 },
  ])
  await sequelize.close()
}
