import type { Sequelize } from 'sequelize'
import { hashPassword } from '../secured/passwords.js'
import { ACCOUNTS } from './accounts.js'
import { Account, Membership, Message, Person, Team, Ticket } from './models.js'

/** Creates the tables, and inserts the tickets of a small office. */
export async function seed(sequelize: Sequelize): Promise<void> {
  // In this mode, readers of the file do not wait for writers. SQLite stores the mode in the file.
  if (sequelize.getDialect() === 'sqlite') await sequelize.query('PRAGMA journal_mode = WAL')
  await sequelize.sync()
  await Person.bulkCreate(ACCOUNTS.map(({ name }) => ({ name })))
  const accounts = ACCOUNTS.map(async ({ username, password, role }, index) => ({
    personId: index + 1,
    username,
    password: await hashPassword(password),
    role,
  }))
  await Account.bulkCreate(await Promise.all(accounts))
  await Team.bulkCreate([{ name: 'Network' }, { name: 'Payroll' }])
  await Membership.bulkCreate([
    { teamId: 1, personId: 3 },
    { teamId: 2, personId: 4 },
  ])
  const at = (time: string) => new Date(`2026-11-${time}:00Z`)
  await Ticket.bulkCreate([
    { teamId: 1, requesterId: 1, subject: 'No network in room 12', tags: ['vip', 'outage'], openedAt: at('20T08:00') },
    { teamId: 2, requesterId: 1, subject: 'October is missing on my slip', openedAt: at('20T09:30') },
    { teamId: 1, requesterId: 2, subject: 'A cable for the new desk', tags: ['hardware'], openedAt: at('21T10:00') },
  ])
  await Message.bulkCreate([
    { ticketId: 1, authorId: 1, text: 'The socket by the window is dead.', sentAt: at('20T08:01') },
    { ticketId: 1, authorId: 3, text: 'Does the one by the door work?', sentAt: at('20T08:20') },
    { ticketId: 1, authorId: 1, text: 'No, that one is dead as well.', sentAt: at('20T08:40') },
    { ticketId: 3, authorId: 3, text: 'How long should it be?', sentAt: at('21T10:15') },
  ])
}
