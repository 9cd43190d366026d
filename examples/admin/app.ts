import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import type { Sequelize } from 'sequelize'
import {
  anyOf,
  authenticated,
  type CrudRouter,
  createCrud,
  hasRole,
  Operations,
  Problem,
  problemHandler,
  type ScopeFunction,
} from 'sequelize-crud-router'
import { Server } from 'socket.io'
import { login } from '../secured/login.js'
import { connect as connectStaff, Employee, findUser } from '../secured/models.js'
import { seed as seedStaff } from '../secured/seed.js'
import type { Tokens } from '../secured/tokens.js'
import type { Example } from '../server.js'
import { Customer, connect as connectShop, Order, OrderLine, Product, Tag } from '../shop/models.js'
import { seed as seedShop } from '../shop/seed.js'
import { seedMore } from './seed.js'

/** Folder of the page that `npm run build` creates. This file is compiled to a folder three levels below the root. */
export const PAGE: string = fileURLToPath(new URL('../../../examples/admin/page/dist/', import.meta.url))

/** Content Security Policy: the page loads only its own files. Scripts of its components insert the styles. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ')

/** Limits callers to the records of their own tenant. */
const ownTenant: ScopeFunction = ({ identity }) => {
  const tenant = identity?.claims.tenant
  if (typeof tenant !== 'string') throw new Problem({ status: 403, detail: 'The token names no tenant.' })
  return { tenant }
}

/**
 * Whether a WebSocket request comes from this server's page. Any page may open a WebSocket to any server, but the
 * browser sends the page's origin.
 */
function isOwnPage({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}

/** The resources of the shop and of its employees. */
function resources(tokens: Tokens, io: Server): readonly CrudRouter[] {
  const { crudRouter } = createCrud({
    identity: tokens.identity,
    io,
    policies: {
      staff: authenticated,
      managers: anyOf(hasRole('manager'), hasRole('admin')),
      admins: hasRole('admin'),
    },
  })
  const operations = Operations.All
  // Every employee may read. The page's forms need versions, and its lists need events.
  const shown = { operations, authorizePolicy: 'staff', concurrency: { inBody: true }, push: true } as const
  const kept = { ...shown, createPolicy: 'managers', updatePolicy: 'managers', deletePolicy: 'managers' } as const

  return [
    crudRouter(Customer, { ...shown, query: { search: ['name', 'city'] }, relations: { orders: { routes: true } } }),
    crudRouter(Order, {
      ...shown,
      query: { search: ['customer.name'] },
      relations: { customer: true, lines: { write: true } },
    }),
    crudRouter(OrderLine, { operations, authorizePolicy: 'staff' }),
    crudRouter(Product, { ...kept, query: { search: ['sku', 'name'] }, relations: { tags: { routes: true } } }),
    crudRouter(Tag, { operations, authorizePolicy: 'staff' }),
    crudRouter(Employee, {
      ...kept,
      deletePolicy: 'admins',
      scope: ownTenant,
      mask: { salary: { read: 'salary:read', write: 'salary:write' } },
      query: { search: ['name', 'title'] },
      softDelete: true,
      audit: true,
    }),
  ]
}

/** Serves a page at /, a login, and the resources. */
function app(tokens: Tokens, page: string, routers: readonly CrudRouter[]): Express {
  const admin = express().disable('x-powered-by')

  admin.use((_req, res, next) => {
    res.set({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'X-Content-Type-Options': 'nosniff' })
    next()
  })
  admin.use(express.static(page))
  admin.use(login({ find: findUser, sign: tokens.sign }))
  for (const router of routers) admin.use(router)

  admin.use(() => {
    throw new Problem({ status: 404 })
  })
  admin.use(problemHandler())
  return admin
}

/** Creates the example. `page` is the folder of the built page. */
export function admin(tokens: Tokens, page: string = PAGE): Example {
  let io: Server
  let staff: Sequelize
  let routers: readonly CrudRouter[]
  return {
    name: 'admin',
    // The passwords of the accounts are public, so the server accepts connections only from this machine.
    host: 'localhost',
    connect: (storage, driver) => {
      // The models of two programs use one file. Each model keeps the connection that it was defined with.
      staff = connectStaff(storage, driver)
      return connectShop(storage, driver)
    },
    seed: async (sequelize) => {
      await seedShop(sequelize)
      await seedMore()
      await seedStaff(staff)
    },
    app: (server) => {
      io = new Server(server, {
        connectionStateRecovery: {},
        maxHttpBufferSize: 10_000,
        allowRequest: (request, decide) => decide(null, isOwnPage(request)),
      })
      routers = resources(tokens, io)
      return app(tokens, page, routers)
    },
    release: async () => {
      for (const router of routers) router.close()
      await io.close()
      await staff.close()
    },
  }
}
