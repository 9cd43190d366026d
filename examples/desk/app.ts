import { randomBytes } from 'node:crypto'
import express, { type Express } from 'express'
import Joi from 'joi'
import jsonwebtoken from 'jsonwebtoken'
import {
  type ActionContext,
  apiDocs,
  authenticated,
  type CrudRouter,
  createCrud,
  filter,
  hasRole,
  type Identity,
  jwtIdentity,
  Operations,
  Problem,
  problemHandler,
  type ScopeFunction,
} from 'sequelize-crud-router'
import type { Server } from 'socket.io'
import { PAGE } from '../admin/app.js'
import { login } from '../secured/login.js'
import { TOKEN_SECONDS } from '../secured/tokens.js'
import { attachments } from './attachments.js'
import { Account, Attachment, Message, Person, Team, Ticket } from './models.js'
import { waitingSince } from './waiting.js'

/** Key of the person who is signed in. */
const me = (identity: Identity | null): number => Number(identity?.claims.sub)

const isAdmin = (identity: Identity | null): boolean => identity?.roles.has('admin') ?? false

/**
 * Filter of the tickets that a person may see: as the requester, or as a member of the ticket's team. `at` is the path
 * to the ticket.
 */
function involves(person: number, at = ''): string {
  return filter.or(filter.eq(`${at}requesterId`, person), filter.any(`${at}team.members`, filter.eq('id', person)))
}

/** Limits callers to tickets that they may see. Admins may see all tickets. New tickets belong to the caller. */
const ownTickets: ScopeFunction = ({ identity, operation }) => {
  if (operation === 'create') return { requesterId: me(identity) }
  return isAdmin(identity) ? null : involves(me(identity))
}

/** Limits messages and attachments to tickets that the caller may see. */
const ofOwnTickets: ScopeFunction = ({ identity }) => (isAdmin(identity) ? null : involves(me(identity), 'ticket.'))

const ownMessages: ScopeFunction = (context) => {
  const { identity, operation } = context
  if (operation !== 'create') return ofOwnTickets(context)
  // The caller is the author of new messages.
  const fixed = { authorId: me(identity) }
  return isAdmin(identity) ? fixed : { fixed, where: involves(me(identity), 'ticket.') }
}

/** POST /api/tickets/1/close */
async function close({ record, input, identity, transaction }: ActionContext<Ticket, { note: string }>): Promise<void> {
  if (record.status === 'closed') throw new Problem({ status: 409, detail: 'The ticket has been closed.' })
  record.set({ status: 'closed', closedAt: new Date() })
  await Message.create({ ticketId: record.id, authorId: me(identity), text: input.note }, { transaction })
}

/** The resources of the desk. The resource of tickets is the first. */
function resources(key: string, io: Server): readonly [tickets: CrudRouter<Ticket>, ...others: CrudRouter[]] {
  const { crudRouter } = createCrud({
    io,
    identity: jwtIdentity({ key, algorithms: ['HS256'] }),
    authorizePolicy: authenticated,
    policies: { desk: hasRole('member'), admins: hasRole('admin') },
  })
  const managed = { createPolicy: 'admins', updatePolicy: 'admins', deletePolicy: 'admins' } as const

  const tickets = crudRouter(Ticket, {
    scope: ownTickets,
    updatePolicy: 'desk',
    deletePolicy: 'admins',
    mask: { tags: { write: 'member' } },
    fields: {
      requesterId: { exclude: ['create', 'update'] },
      status: { exclude: ['create', 'update'] },
      openedAt: { exclude: ['create', 'update'] },
      closedAt: { exclude: ['create', 'update'] },
      tags: { members: { '': ['string'] } },
    },
    query: { search: ['subject'], defaultSort: '-openedAt' },
    computed: { waitingSince },
    actions: {
      close: {
        on: 'record',
        method: 'post',
        policy: authenticated,
        input: Joi.object({ note: Joi.string().max(1000).required() }),
        handler: close,
      },
    },
    concurrency: { inBody: true },
    push: true,
  })

  return [
    tickets,
    crudRouter(Message, {
      scope: ownMessages,
      operations: Operations.Read | Operations.Create,
      fields: { authorId: { exclude: 'create' }, sentAt: { exclude: 'create' } },
      hooks: {
        // A new message changes how long its ticket has been waiting for an answer.
        afterCreate: ({ instance, transaction }) => {
          transaction.afterCommit(() => tickets.notify?.updated(instance.ticketId))
        },
      },
    }),
    crudRouter(Attachment, {
      scope: ofOwnTickets,
      operations: Operations.Read,
      fields: { content: { exclude: true } },
    }),
    crudRouter(Team, { ...managed, relations: { members: { routes: true } } }),
    crudRouter(Person, managed),
    crudRouter(Account, {
      route: 'api/me',
      singleton: ({ identity }) => me(identity),
      operations: Operations.GetById | Operations.Update,
      fields: { password: { exclude: true }, username: { exclude: 'update' }, role: { exclude: 'update' } },
    }),
  ]
}

/**
 * Creates an Express application with a login, the resources, routes for files, API documents, and the page of the
 * admins.
 */
export function desk(io: Server, page: string = PAGE): Express {
  const key = randomBytes(32).toString('base64url')
  const routers = resources(key, io)
  const [tickets] = routers
  const app = express().disable('x-powered-by')

  app.use(express.static(page, { index: 'desk.html' }))
  app.use(
    login<Account>({
      find: (username) => Account.findOne({ where: { username } }),
      sign: ({ personId, username, role }) =>
        jsonwebtoken.sign({ name: username, role, roles: role === 'admin' ? ['member'] : [] }, key, {
          algorithm: 'HS256',
          subject: String(personId),
          expiresIn: TOKEN_SECONDS,
        }),
    }),
  )
  app.use(attachments(tickets))
  for (const router of routers) app.use(router)
  app.use(apiDocs({ resources: routers, info: { title: 'Desk', version: '1.0.0' } }))
  app.use(() => {
    throw new Problem({ status: 404 })
  })
  app.use(problemHandler())
  return app
}
