// Row level security of PostgreSQL, set up by SET LOCAL in a transaction of the host's around each request, as docs/row-level-security.md
// has it: nobody sees or writes rows of another tenant, directly and behind PgBouncer in transaction mode.

import type { ExecutionContext } from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { Namespace } from '../support/continuation.js'
import { serve } from '../support/server.js'
import { type DatabaseServer, onServer, PGBOUNCER, POSTGRES, startPgBouncer, startPostgres } from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

const TENANTS = 5
const REQUESTS = 400

// It is global: this file is a process of its own.
Sequelize.useCLS(new Namespace())

const TABLE = [
  'CREATE TABLE notes (id SERIAL PRIMARY KEY, text TEXT NOT NULL, tenant INTEGER NOT NULL)',
  'CREATE ROLE app LOGIN',
  'GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO app',
  'GRANT USAGE ON SEQUENCE notes_id_seq TO app',
  'ALTER TABLE notes ENABLE ROW LEVEL SECURITY',
  `CREATE POLICY tenants ON notes USING (tenant = NULLIF(current_setting('app.tenant', true), '')::integer)`,
]

/** Requests of tenants at the same time, and what came of them. */
async function load(t: ExecutionContext, options: DatabaseServer['options']): Promise<void> {
  const sequelize = new Sequelize({ ...options, username: 'app', pool: { max: 5 } })
  t.teardown(() => sequelize.close())
  const attributes = { text: { type: DataTypes.STRING, allowNull: false }, tenant: DataTypes.INTEGER }
  const Note = sequelize.define('Note', attributes, { timestamps: false, tableName: 'notes' })
  const app = express()
  const withTenant: RequestHandler = (req, res, next) => {
    const end = res.end
    const answered = new Promise<unknown[]>((resolve, reject) => {
      res.end = (...given: unknown[]) => {
        resolve(given)
        return res
      }
      res.once('close', () => reject(new Error('the client has left')))
    })
    answered.catch(() => undefined)
    sequelize
      .transaction(async (transaction) => {
        const tenant = String(req.headers['x-tenant'] ?? '')
        await sequelize.query("SELECT set_config('app.tenant', $1, true)", { bind: [tenant], transaction })
        next()
        const given = await answered
        if (res.statusCode >= 400) throw given
        return given
      })
      .catch((error: unknown) => {
        if (Array.isArray(error)) return error
        if (!res.headersSent) {
          for (const name of res.getHeaderNames()) res.removeHeader(name)
          res.status(503).set('Retry-After', '1')
        }
        return []
      })
      .then((given) => Reflect.apply(end, res, given))
  }
  app.use(withTenant)
  app.use(crudRouter(Note, { operations: Operations.AllWithBulk, rowLevelSecurity: true }))
  const { url, close } = await serve(app)
  t.teardown(close)

  const figures = { requests: 0, foreign: 0, refused: 0, unexpected: 0, 'not found after 201': 0 }
  const send = async (tenant: number, path: string, method = 'GET', body?: object): Promise<[number, unknown]> => {
    const response = await fetch(`${url}/api/notes${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-tenant': String(tenant) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    figures.requests += 1
    const text = await response.text()
    return [response.status, text === '' ? null : JSON.parse(text)]
  }
  const own: number[][] = Array.from({ length: TENANTS + 1 }, () => [])
  const one = async (index: number): Promise<void> => {
    const tenant = 1 + (index % TENANTS)
    const [status, made] = await send(tenant, '', 'POST', { text: `of ${tenant}`, tenant })
    const id = Number(Reflect.get(Object(made), 'id'))
    if (status !== 201) figures.unexpected += 1
    else own[tenant]?.push(id)
    const [seen] = await send(tenant, `/${id}`)
    if (seen !== 200) figures['not found after 201'] += 1
    const other = 1 + ((index + 1) % TENANTS)
    const [foreign] = await send(other, '', 'POST', { text: 'of another', tenant })
    if (foreign < 400 || foreign >= 500) figures.unexpected += 1
    else figures.refused += 1
    for (const [method, body] of [['GET'], ['PATCH', { text: 'stolen' }], ['DELETE']] as const) {
      const [answer] = await send(other, `/${id}`, method, body)
      if (answer === 404) figures.refused += 1
      else figures.foreign += 1
    }
    const [, page] = await send(tenant, '?pageSize=100&sort=-id')
    const { items = [] }: { readonly items?: readonly { readonly tenant: number }[] } = Object(page)
    figures.foreign += items.filter((item) => item.tenant !== tenant).length
  }
  for (let begin = 0; begin < REQUESTS / 5; begin += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => one(begin + index)))
  }
  tell(t, figures)
  t.like(figures, { foreign: 0, unexpected: 0, 'not found after 201': 0 })
  for (let tenant = 1; tenant <= TENANTS; tenant++) {
    const [, answer] = await send(tenant, '?count=true')
    t.is(Number(Reflect.get(Object(answer), 'count')), own[tenant]?.length ?? -1)
  }
  const [, nobody] = await send(0, '?count=true')
  t.deepEqual(nobody, { count: 0 })
}

rig(POSTGRES, PGBOUNCER)('no tenant sees or writes rows of another, directly and behind PgBouncer', async (t) => {
  const postgres = using(t, await startPostgres())
  await onServer(postgres.options, ...TABLE)
  await load(t, postgres.options)
  await onServer(postgres.options, 'DELETE FROM notes')
  const pooler = using(t, await startPgBouncer({ server: postgres.port, size: 3, user: 'app' }))
  await load(t, pooler.options)
})
