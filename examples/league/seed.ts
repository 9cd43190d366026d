import type { Sequelize } from 'sequelize'
import { Order, Player, Team } from './models.js'

/** Creates the tables again and fills them. */
export async function seed(sequelize: Sequelize): Promise<void> {
  // In this mode, readers and writers of the file do not wait for each other.
  await sequelize.query('PRAGMA journal_mode = WAL')
  await sequelize.sync({ force: true })
  await Team.bulkCreate([
    { name: 'Lakers', description: 'Los Angeles Lakers', maxMembers: 15 },
    { name: 'Celtics', description: 'Boston Celtics', maxMembers: 15 },
    { name: 'Warriors', description: 'Golden State Warriors', maxMembers: 15 },
  ])
  await Player.bulkCreate([
    { name: 'Jan Kowalski', level: 42, email: 'jan@test.pl', salary: 5000, teamId: 1 },
    { name: 'Anna Nowak', level: 75, email: 'anna@test.pl', salary: 8000, teamId: 2 },
    { name: 'Piotr Ski', level: 20, email: 'piotr@test.pl', salary: 3000, teamId: 1 },
    { name: 'Kasia Wielka', level: 55, email: 'kasia@company.com', salary: 6000, teamId: 3 },
    { name: 'Tomek Admin', level: 90, email: 'tomek@test.pl', salary: 12000, teamId: 2 },
    { name: 'Ola Testowa', level: 10, email: 'ola@company.com', salary: 2500, teamId: 3 },
  ])
  await Order.bulkCreate([
    { product: 'Ball', total: 29.9, status: 'Delivered' },
    { product: 'Jersey', total: 89.5, status: 'Shipped' },
    { product: 'Hoop', total: 249 },
  ])
}
