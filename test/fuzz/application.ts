// The fuzzed application: every optional behaviour on, by what is said in the tables.

import express, { type Express, type Request } from 'express'
import type { Server } from 'socket.io'
import {
  allOf,
  apiDocs,
  authenticated,
  type CrudOptions,
  type CrudRouter,
  crudRouter,
  hasPermission,
  hasRole,
  type Identity,
  not,
  Operations,
  type Policy,
} from '../../lib/index.js'
import { crudMcp } from '../../lib/mcp/index.js'
import { INFO } from '../support/documented.js'
import { identity } from '../support/tokens.js'
import { ANONYMOUS, type Caller, callerNamed } from './callers.js'
import type { Models } from './models.js'
import { scopeOf } from './rights.js'
import { SERVED, type Table, type TableName } from './tables.js'

export interface Application {
  readonly app: Express
  readonly routers: ReadonlyMap<TableName, CrudRouter>
  /** What reached `onError`, and what left the routers for the host's own error handler. */
  readonly errors: Trouble[]
}

export interface Trouble {
  readonly where: 'onError' | 'the error handler of the host'
  readonly error: unknown
  readonly request: string
}

/** Stands in every reply of the application, and in none of Node's own to what is no HTTP. */
export const MARK = 'x-fuzzed'

const MEMBERS = { note: 'string', size: 'integer', 'deep.on': 'boolean', at: 'datetime', tags: 'array' } as const

/** All that there is. */
const OPERATIONS =
  Operations.AllWithBulk | Operations.Aggregate | Operations.Export | Operations.BulkUpdate | Operations.Replace

const MORE: Partial<Readonly<Record<TableName, CrudOptions>>> = {
  Club: { query: { pageSize: 3 } },
  Team: { flatten: ['club'], query: { defaultSort: 'name' } },
  Player: {
    flatten: ['team', 'badge'],
    fields: {
      photo: { exclude: 'list' },
      code: { exclude: 'query' },
      id: { filterable: true },
      extra: { members: MEMBERS },
    },
    query: { pageSize: 5, maxPageSize: 100, defaultSort: '-level,team.name' },
    limits: { bulkItems: 30, bodySize: 65_536 },
    hooks: {
      beforeCreate: () => undefined,
      afterUpdate: async ({ instance, transaction }) => {
        await instance.reload({ transaction })
      },
    },
  },
  Badge: { unknownProperties: 'reject' },
  Training: { query: { unknownFields: 'ignore' }, flatten: ['skill'] },
  Skill: { fields: { id: { filterable: true } }, query: { sortable: true, defaultDirection: 'desc' } },
}

const READERS: Readonly<Record<Table['readers'], CrudOptions>> = {
  anyone: {},
  known: { authorizePolicy: authenticated },
  keeper: { authorizePolicy: hasRole('keeper') },
}

export function buildApplication(models: Models, io: Server): Application {
  const app = express()
  const errors: Trouble[] = []
  const tell = (where: Trouble['where'], error: unknown, { method, originalUrl }: Request): void => {
    errors.push({ where, error, request: `${method} ${originalUrl}` })
  }
  app.disable('x-powered-by')
  app.use((_req, res, next) => {
    res.setHeader(MARK, '1')
    next()
  })
  const routers = new Map<TableName, CrudRouter>()
  for (const table of SERVED) {
    const router = crudRouter(models[table.name], {
      ...optionsOf(table, io),
      onError: (error, request) => tell('onError', error, request),
    })
    app.use(router)
    routers.set(table.name, router)
  }
  const resources = [...routers.values()]
  app.all('/mcp', crudMcp({ resources, write: true, confirm: false }))
  app.use(apiDocs({ resources, info: INFO }))
  app.use((_req, res) => {
    res.status(404).type('text/plain').send('no such route')
  })
  const last: express.ErrorRequestHandler = (error: unknown, req, res, _next) => {
    tell('the error handler of the host', error, req)
    res.status(500).type('text/plain').send('an error')
  }
  app.use(last)
  return { app, routers, errors }
}

function optionsOf(table: Table, io: Server): CrudOptions {
  const { name, path, scope, softDelete, versioned, audited, readers, deletedFor, pushed, columns, once, search } =
    table
  const opened = table.relations.filter(({ routes, write }) => routes || write)
  const ledger = name === 'Player' ? { ledger: { fields: ['label'] } } : {}
  const writers: Policy = allOf(authenticated, not(hasRole('reader')))
  const masked = columns.filter(({ read, write }) => read !== null || write !== null)
  const hidden = columns.filter(({ hidden: isHidden }) => isHidden)
  const closed = columns.filter(({ written }) => !written)
  const more = MORE[name] ?? {}
  return {
    identity,
    operations: OPERATIONS | (softDelete === null ? 0 : Operations.Restore),
    ...more,
    query: { ...more.query, ...(search.length === 0 ? {} : { search }) },
    relations: {
      ...Object.fromEntries(opened.map(({ name: to, routes, write }) => [to, { routes, write }])),
      ...ledger,
    },
    idempotency: once,
    ...(path === null ? {} : { route: path.slice(1) }),
    fields: {
      ...Object.fromEntries(closed.map((column) => [column.name, { exclude: ['create', 'update'] }])),
      ...Object.fromEntries(hidden.map((column) => [column.name, { exclude: true }])),
      ...more.fields,
    },
    ...(softDelete === 'mark' ? { softDelete: true } : {}),
    concurrency: versioned && { inBody: name === 'Player' },
    audit: audited,
    mask: Object.fromEntries(
      masked.map(({ name: column, read, write }) => [
        column,
        { ...(read === null ? {} : { read }), ...(write === null ? {} : { write }) },
      ]),
    ),
    ...READERS[readers],
    ...(readers === 'anyone' ? {} : { createPolicy: writers, updatePolicy: writers, deletePolicy: writers }),
    ...(softDelete === null || readers === 'anyone' ? {} : { restorePolicy: hasRole('restorer') }),
    ...(softDelete === null || deletedFor === 'anyone' ? {} : { includeDeletedPolicy: hasPermission(deletedFor) }),
    ...(scope.length === 0 ? {} : { scope: ({ identity: who }) => scopeOf(table, callerOf(who)) }),
    ...(pushed ? { push: { io } } : {}),
  }
}

function callerOf(who: Identity | null): Caller {
  const caller = who === null ? ANONYMOUS : callerNamed(who.claims.caller)
  if (caller === null) throw new TypeError('an identity that no token gave')
  return caller
}
