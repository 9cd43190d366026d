import type { Sequelize } from 'sequelize'
import { ACCOUNTS } from './accounts.js'
import { Employee, User } from './models.js'
import { hashPassword } from './passwords.js'

/** Creates the tables again and fills them. */
export async function seed(sequelize: Sequelize): Promise<void> {
  // In this mode, readers and writers of the file do not wait for each other.
  await sequelize.query('PRAGMA journal_mode = WAL')
  await sequelize.sync({ force: true })
  const users = ACCOUNTS.map(async ({ password, ...user }) => ({ ...user, password: await hashPassword(password) }))
  await User.bulkCreate(await Promise.all(users))
  await Employee.bulkCreate([
    { tenant: 'acme', name: 'Erin Eriksen', title: 'Engineer', username: 'erin', salary: 5200 },
    { tenant: 'acme', name: 'Mara Moreno', title: 'Head of Engineering', username: 'mara', salary: 8100 },
    { tenant: 'acme', name: 'Ada Adamska', title: 'People', username: 'ada', salary: 6400 },
    { tenant: 'globex', name: 'Gus Grau', title: 'Head of Sales', username: 'gus', salary: 7700 },
    { tenant: 'globex', name: 'Pia Prem', title: 'Sales', salary: 4300 },
  ])
}
