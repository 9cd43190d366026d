// All models of a ticket desk at once, as an application has them that is older than its API: `crud.routers`, with
// defaults, and options for the few models that differ.

import ava from 'ava'
import express from 'express'
import { DataTypes, type ModelAttributes, type Sequelize } from 'sequelize'
import { resource } from '../../../lib/client/index.js'
import {
  apiDocs,
  authenticated,
  CrudConfigError,
  clientTypes,
  createCrud,
  hasRole,
  openApi,
  type ScopeFunction,
} from '../../../lib/index.js'
import { dataProvider } from '../../../lib/react-admin/index.js'
import { INFO } from '../../support/documented.js'
import { addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

/** The tables of the application: names, and columns beside the key. */
function define(sequelize: Sequelize): void {
  const text = (length = 40) => ({ type: DataTypes.STRING(length), allowNull: false })
  const whole = () => ({ type: DataTypes.INTEGER })
  const tenant = () => ({ tenant_id: { type: DataTypes.INTEGER, allowNull: false } })
  const made = (name: string, columns: ModelAttributes, options: object = {}) =>
    sequelize.define(name, columns, { timestamps: false, underscored: true, ...options })
  const Tenant = made('Tenant', { tenant_name: text() })
  const Account = defineAccounts(sequelize, 'Account')
  const Queue = made('Queue', { queue_name: text(), ...tenant() })
  const Ticket = made(
    'Ticket',
    {
      subject: text(60),
      priority: { ...whole(), defaultValue: 3, validate: { min: 1, max: 5 } },
      queue_id: whole(),
      ...tenant(),
    },
    { timestamps: true },
  )
  const Comment = made('Comment', { body: { type: DataTypes.TEXT, allowNull: false }, ticket_id: whole(), ...tenant() })
  const Label = made('Label', { label_key: { type: DataTypes.STRING(20), primaryKey: true }, color: text(10) })
  const TicketLabel = made('TicketLabel', {
    ticket_id: { type: DataTypes.INTEGER, primaryKey: true },
    label_key: { type: DataTypes.STRING(20), primaryKey: true },
  })
  const Attachment = made(
    'Attachment',
    { file_name: text(), ticket_id: whole(), ...tenant() },
    { paranoid: true, timestamps: true },
  )
  made('Setting', { setting_key: { type: DataTypes.STRING(20), primaryKey: true }, setting_value: DataTypes.JSON })
  made('AuditLog', { action: text(), at: DataTypes.DATE })
  made('ApiToken', { token_hash: text(80) })
  Ticket.belongsTo(Queue, { as: 'queue', foreignKey: 'queue_id' })
  Queue.hasMany(Ticket, { as: 'tickets', foreignKey: 'queue_id' })
  Ticket.hasMany(Comment, { as: 'comments', foreignKey: 'ticket_id' })
  Comment.belongsTo(Ticket, { as: 'ticket', foreignKey: 'ticket_id' })
  Ticket.hasMany(Attachment, { as: 'attachments', foreignKey: 'ticket_id' })
  const through = { through: TicketLabel }
  Ticket.belongsToMany(Label, { as: 'labels', foreignKey: 'ticket_id', otherKey: 'label_key', ...through })
  Label.belongsToMany(Ticket, { as: 'tickets', foreignKey: 'label_key', otherKey: 'ticket_id', ...through })
  Account.belongsTo(Tenant, { as: 'tenant', foreignKey: { name: 'tenant_id', allowNull: true } })
}

const crud = createCrud({
  identity,
  naming: 'attribute',
  routePrefix: 'v1',
  authorizePolicy: authenticated,
  deletePolicy: hasRole('admin'),
  unknownProperties: 'reject',
  query: { pageSize: 5, maxPageSize: 50 },
  limits: { bulkItems: 10 },
  idempotency: true,
})

const TENANTS: Readonly<Record<string, number>> = { ann: 1, bob: 2 }
const ownTenant: ScopeFunction = ({ identity: caller }) =>
  caller?.roles.has('admin') ? null : { tenant_id: TENANTS[caller?.name ?? ''] ?? 0 }

const admin = hasRole('admin')

const server = await openStage(({ sequelize }, app) => {
  define(sequelize)
  addLogin(app, sequelize.model('Account'))
  const routers = crud.routers(sequelize.models, {
    Account: {
      fields: { password_hash: { exclude: true }, password: { only: ['create', 'update'] } },
      authorizePolicy: admin,
    },
    Tenant: { authorizePolicy: admin },
    Queue: { scope: ownTenant, relations: { tickets: { routes: true } } },
    Ticket: {
      scope: ownTenant,
      operations: ['getById', 'getList', 'create', 'update', 'delete', 'bulkCreate', 'aggregate', 'export'],
      fields: { tenant_id: { exclude: ['create', 'update'] } },
      relations: { comments: { routes: true, write: true }, labels: { routes: true, write: true } },
      query: { search: ['subject', 'queue.queue_name'] },
    },
    Comment: { scope: ownTenant, fields: { tenant_id: { exclude: ['create', 'update'] } } },
    Attachment: { scope: ownTenant, deletePolicy: authenticated },
    Setting: { createPolicy: admin, updatePolicy: admin },
    TicketLabel: { operations: ['getList', 'getById'] },
    AuditLog: { operations: ['getList'], getListPolicy: admin },
    ApiToken: false,
  })
  app.use(routers)
  app.use('/docs', apiDocs({ resources: routers.resources, info: INFO }))
  app.set('routers', routers)
})
test.after.always(() => server.close())

type Routers = ReturnType<typeof crud.routers>
const routers: Routers = server.app.get('routers')

const callers: Record<string, Record<string, string>> = {}
test.before(async () => {
  const { models } = server.sequelize
  await models.Tenant?.bulkCreate([{ tenant_name: 'One' }, { tenant_name: 'Two' }])
  for (const [user_name, user_role] of [
    ['ann', 'user'],
    ['bob', 'user'],
    ['root', 'admin'],
  ] as const) {
    await models.Account?.create({ user_name, password: `${user_name} 1`, user_role })
    callers[user_name] = await logIn(server, user_name, `${user_name} 1`)
  }
  await models.Queue?.bulkCreate([
    { queue_name: 'Bills', tenant_id: 1 },
    { queue_name: 'Bugs', tenant_id: 2 },
  ])
  await models.Label?.bulkCreate([
    { label_key: 'hot', color: 'red' },
    { label_key: 'cold', color: 'blue' },
  ])
})
const by = (name: string) => callers[name] ?? {}

test('every model but those that are left out has its routes', async (t) => {
  t.deepEqual(
    routers.resources.map(({ resource: { route } }) => route),
    [
      '/api/v1/tenants',
      '/api/v1/accounts',
      '/api/v1/queues',
      '/api/v1/tickets',
      '/api/v1/comments',
      '/api/v1/labels',
      '/api/v1/ticketlabels',
      '/api/v1/attachments',
      '/api/v1/settings',
      '/api/v1/auditlogs',
    ],
  )
  for (const {
    resource: { route },
  } of routers.resources) {
    t.is((await server.get(route, by('root'))).status, 200, route)
    t.is((await server.get(route)).status, 401, route)
  }
  t.is((await server.get('/api/v1/apitokens', by('root'))).status, 404)
})

test('a ticket goes its way: made with comments and labels, found, grouped, and deleted by an administrator', async (t) => {
  const body = { subject: 'Printer', queue_id: 1, comments: [{ body: 'on fire' }], labels: ['hot'] }
  const made = await server.post('/api/v1/tickets', body, by('ann'))
  t.is(made.status, 201, made.text)
  t.like(made.body, { subject: 'Printer', priority: 3, tenant_id: 1 })
  const path = `/api/v1/tickets/${made.body.id}`
  const select = 'subject,queue.queue_name,comments(body,tenant_id),labels(color)'
  t.deepEqual((await server.get(`${path}?select=${select}`, by('ann'))).body, {
    subject: 'Printer',
    queue: { queue_name: 'Bills' },
    comments: [{ body: 'on fire', tenant_id: 1 }],
    labels: [{ color: 'red' }],
  })
  t.is((await server.get('/api/v1/tickets?search=bills&count=true', by('ann'))).body.count, 1)
  const grouped = await server.get('/api/v1/tickets?aggregate=count&group=queue.queue_name', by('ann'))
  t.deepEqual(grouped.body.items, [{ group: { queue: { queue_name: 'Bills' } }, count: 1 }])
  t.is((await server.get(path, by('bob'))).status, 404)
  t.is((await server.post('/api/v1/tickets', { subject: 'x', queue_id: 1 }, by('bob'))).status, 409)
  t.is((await server.delete(path, by('ann'))).status, 403)
  t.is((await server.get(path, by('ann'))).status, 200)
})

test('defaults hold for all: strict bodies, pages, limits, and keys of writes', async (t) => {
  const unknown = await server.post('/api/v1/tickets', { subject: 'x', colour: 'red' }, by('ann'))
  t.is(unknown.status, 400)
  t.deepEqual(unknown.body.errors, { colour: ['is not a known property.'] })
  const near = await server.post('/api/v1/labels', { labelKey: 'warm', color: 'red' }, by('ann'))
  t.deepEqual(near.body.errors.labelKey, ['is not a known property. Did you mean label_key?'])
  t.is((await server.get('/api/v1/tickets', by('ann'))).body.pageSize, 5)
  t.is((await server.get('/api/v1/tickets?pageSize=51', by('ann'))).status, 400)
  const many = await server.post('/api/v1/tickets/bulk', Array(11).fill({ subject: 'x' }), by('ann'))
  t.is(many.status, 400)
  const once = { ...by('ann'), 'idempotency-key': 'label-1' }
  const first = await server.post('/api/v1/labels', { label_key: 'warm', color: 'pink' }, once)
  t.is(first.status, 201, first.text)
  t.is((await server.post('/api/v1/labels', { label_key: 'warm', color: 'pink' }, once)).text, first.text)
})

test('what is of administrators is 403 for others, and nobody sees a password', async (t) => {
  const { status, body } = await server.get('/api/v1/accounts', by('ann'))
  t.is(status, 403)
  t.is(body.code, 'forbidden')
  const { text } = await server.get('/api/v1/accounts', by('root'))
  t.notRegex(text, /password/)
  const made = await server.post('/api/v1/accounts', { user_name: 'cid', password: 'cid 1', tenant_id: 1 }, by('root'))
  t.is(made.status, 201, made.text)
  t.truthy((await logIn(server, 'cid', 'cid 1')).authorization)
  const upper = await server.post('/api/v1/accounts', { user_name: 'Dan', password: 'x' }, by('root'))
  t.deepEqual(upper.body.errors, { user_name: ['must be lower case.'] })
  const filtered = await server.get('/api/v1/accounts?filter=password_hash%5Ea', by('root'))
  t.is(filtered.body.code, 'unknown-field')
})

test('a paranoid model deletes softly, and an attachment comes back for nobody here', async (t) => {
  const ticket = (await server.get('/api/v1/tickets', by('ann'))).body.items[0]
  const made = await server.post(
    '/api/v1/attachments',
    { file_name: 'a.png', ticket_id: ticket.id, tenant_id: 1 },
    by('ann'),
  )
  t.is(made.status, 201, made.text)
  const path = `/api/v1/attachments/${made.body.id}`
  t.is((await server.delete(path, by('bob'))).status, 404)
  t.is((await server.delete(path, by('ann'))).status, 204)
  t.is((await server.get(path, by('ann'))).status, 404)
  t.is((await server.send('POST', `${path}/restore`, { headers: by('ann') })).status, 404)
})

test('one document and one file of types have all of them', async (t) => {
  const { paths } = openApi({ resources: routers.resources, info: INFO })
  const own = Object.keys(paths).map((path) => path.split('/')[3])
  t.is(new Set(own).size, 10)
  const types = clientTypes({ resources: routers.resources })
  for (const name of ['Ticket', 'TicketLabel', 'Setting']) t.regex(types, new RegExp(`\\b${name}\\b`))
  t.is((await server.get('/docs/openapi.json')).status, 200)
})

test('the typed client and an admin page work with what is mounted so', async (t) => {
  const labels = resource(`${server.url}/api/v1/labels`, { key: 'label_key', headers: by('ann') })
  const found = await labels.list({ sort: 'label_key', select: ['label_key'] })
  t.deepEqual(found.items, [{ label_key: 'cold' }, { label_key: 'hot' }, { label_key: 'warm' }])
  const provider = dataProvider(`${server.url}/api/v1/`, {
    headers: by('ann'),
    resources: { labels: { key: 'label_key' }, tickets: { search: true } },
  })
  const { data } = await provider.getOne('labels', { id: 'hot' })
  t.like(data, { id: 'hot', color: 'red' })
  const tickets = await provider.getList('tickets', {
    filter: { q: 'printer', priority_gte: 3 },
    sort: { field: 'subject', order: 'ASC' },
    pagination: { page: 1, perPage: 5 },
  })
  t.is(tickets.total, 1)
})

test('without policies nothing is mounted, and the error names every model and operation', (t) => {
  const open = createCrud({ identity })
  const { models } = server.sequelize
  const error = t.throws(
    () => open.routers(models, { ApiToken: false, Tickets: {}, Setting: { getListPolicy: admin } }),
    {
      instanceOf: CrudConfigError,
    },
  )
  const codes = error?.problems.map(({ code }) => code) ?? []
  t.is(codes.filter((code) => code === 'UNGUARDED').length, 10)
  t.is(codes.filter((code) => code === 'UNKNOWN_MODEL').length, 1)
  const messages = error?.problems.map(({ message }) => message).join('\n') ?? ''
  t.regex(messages, /"Tickets".*Did you mean "Ticket"\?/)
  t.regex(messages, /Setting: no policy covers getById, create, update, delete/)
  const app = express()
  t.is(app.router.stack.length, 0)
})
