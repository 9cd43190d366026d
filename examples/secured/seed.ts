import type { Sequelize } from 'sequelize'
import { Employee, type Role, User } from './models.js'
import { hashPassword } from './passwords.js'

interface Account {
  readonly username: string
  readonly password: string
  readonly role: Role
  readonly tenant: string
}

/** For trying things out, which is why the passwords stand here. */
export const ACCOUNTS: readonly Account[] = [
  { username: 'erin', password: 'one lemon tree', role: 'employee', tenant: 'acme' },
  { username: 'mara', password: 'two paper boats', role: 'manager', tenant: 'acme' },
  { username: 'ada', password: 'three tin drums', role: 'admin', tenant: 'acme' },
  { username: 'gus', password: 'four stone steps', role: 'manager', tenant: 'globex' },
]

/** Creates the tables anew and fills them. */
export async function seed(sequelize: Sequelize): Promise<void> {
  // Readers and writers of the file do not wait for each other.
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
