// What a scope may return: null, values, arrays of values, conditions in the filter language, and values beside a condition.
// Anything else is an error of the scope: 500, whose reason only onError hears.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter, type Scope } from '../../../lib/index.js'
import { defineModels, fill, idsOf, modelsOf, NAMES, SHAPES, TICKETS } from '../../support/scopeConditions.js'
import { openStage } from '../../support/stage.js'

const errors: unknown[] = []
const warnings: Error[] = []
process.on('warning', (warning) => warnings.push(warning))

let scope: () => unknown = () => null

/** Scopes that are wrong, and what onError hears of them. */
const WRONG: readonly (readonly [what: string, scope: unknown, reason: RegExp])[] = [
  ['blank text', ' ', /Ticket: scope: the condition must be a text that is not blank\. Return null for all records/],
  [
    'a text that does not parse',
    'ownerId=1|',
    /Ticket: scope returned an invalid condition: Expected .* at position 10/,
  ],
  ['an unknown name', 'ownrId=1', /condition: Unknown field "ownrId" at position 0\. Did you mean "ownerId"\?/],
  ['an unknown name behind an association', 'team.regionid=1', /Unknown field "team\.regionid" at position 0/],
  ['the name of an API behind an association', 'team.Name=x', /Unknown field "team\.Name"/],
  ['an association in another case behind another one', 'notes.any(Ticket.level=1)', /Unknown field "Ticket\.level"/],
  ['an operator that the type lacks', 'level^1', /the operator "\^" cannot be used with/],
  ['a value that is none of the type', 'level=one', /"one" is not a whole number/],
  ['a virtual attribute', 'shout=X', /Unknown field "shout"/],
  [
    'more tables than the limit',
    'members.any(ticket.members.any(ticket.level=1))',
    /reaches more tables than the limit of 3 \(scopeJoins\)/,
  ],
  [
    'more collections than the limit',
    'members.count>0,members.count<9,notes.count>0',
    /crosses more collections than the limit of 2 \(scopeQuantifiers\)/,
  ],
  [
    'a blank condition',
    { where: '' },
    /Ticket: scope: the condition must be a text that is not blank\. Return null for all records/,
  ],
  ['a condition that is undefined', { where: undefined }, /the condition must be a text that is not blank/],
  ['a condition that is no text', { where: { ownerId: 1 } }, /the condition must be a text that is not blank/],
  [
    'values that are undefined beside a condition',
    { fixed: undefined, where: 'level=1' },
    /Ticket: scope: "fixed" must be a plain object/,
  ],
  ['no values beside a condition', { fixed: {}, where: 'level=1' }, /Ticket: scope: "fixed" must be a plain object/],
  [
    'null in place of values beside a condition',
    { fixed: null, where: 'level=1' },
    /Ticket: scope: "fixed" must be a plain object/,
  ],
  ['a misspelt fixed', { fix: { ownerId: 1 }, where: 'level=1' }, /returned "where" together with "fix"/],
  [
    'an array of values of another type',
    { ownerId: ['x'] },
    /must return a value of type integer for "ownerId", not string/,
  ],
  ['a fraction for whole numbers', { ownerId: 1.5 }, /must return a value of type integer for "ownerId", not 1\.5$/],
  ['a value that an enumeration lacks', { state: 'lost' }, /must return one of the values open, closed for "state"/],
  ['one of several values that an enumeration lacks', { state: ['open', 'Closed'] }, /values open, closed for "state"/],
  ['a number for an enumeration', { state: 1 }, /one of the values open, closed for "state", not 1$/],
  ['an array of arrays', { ownerId: [[1]] }, /must return a value of type integer for "ownerId", not object/],
  [
    'values of a JSON attribute',
    { doc: ['x'] },
    /scope returned an array for "doc", which is a JSON attribute\. Return a condition instead/,
  ],
  ['two attributes of one name', 'label=x', /the name "label" is ambiguous: two attributes or associations have it/],
  [
    'a default scope that is more than a condition',
    'review.ok=true',
    /the default scope of Review has unsupported options: include\. Conditions support only where, attributes and order/,
  ],
]

const stage = await openStage(({ sequelize }, app) => {
  const models = defineModels(sequelize, '')
  const { Ticket, Team } = models
  sequelize.define('Review', { ok: DataTypes.BOOLEAN, ticketId: DataTypes.INTEGER }, { timestamps: false })
  const Review = sequelize.model('Review')
  Review.belongsTo(Ticket, { as: 'ticket', foreignKey: 'ticketId', constraints: false })
  Review.addScope('defaultScope', { include: [{ association: 'ticket', required: true }] }, { override: true })
  Ticket.hasOne(Review, { as: 'review', foreignKey: 'ticketId', constraints: false })
  Object.assign(Ticket.rawAttributes, {
    shout: { type: DataTypes.VIRTUAL, get: () => 'X' },
    doc: { type: DataTypes.JSON },
    state: { type: DataTypes.ENUM('open', 'closed') },
    secret: { type: DataTypes.STRING },
    name: { type: DataTypes.STRING },
    label: { type: DataTypes.STRING },
  })
  Reflect.get(Ticket, 'refreshAttributes').call(Ticket)
  const Where = sequelize.define('Where', { where: DataTypes.INTEGER }, { timestamps: false })
  app.use('/where', crudRouter(Where, { scope: () => ({ fixed: { where: 1 }, where: 'where>0' }) }))
  app.use(crudRouter(models.Note, { route: 'open-notes' }))
  app.use(
    crudRouter(Ticket, {
      route: 'tickets',
      scope: () => scope() as Scope,
      limits: {
        scopeJoins: 3,
        scopeQuantifiers: 2,
        clauses: 1,
        nesting: 1,
        pathDepth: 1,
        joins: 1,
        quantifiers: 1,
        cost: 3,
        listItems: 1,
      },
      fields: {
        secret: { exclude: true },
        name: { name: 'label' },
        label: { name: 'tag' },
        level: { filterable: false },
        ownerId: { name: 'owner' },
      },
      mask: { title: { read: 'titles' } },
      relations: { team: false },
      onError: (error) => errors.push(error),
    }),
  )
  void Team
})
const { sequelize } = stage
const models = modelsOf(sequelize, '')
await fill(models)

test.after.always(async () => {
  await stage.close()
})

async function idsUnder(given: unknown): Promise<readonly number[]> {
  scope = () => given
  const { status, body } = await stage.get('/tickets?pageSize=100')
  if (status !== 200) throw Object.assign(new Error(String(status)), { told: errors.splice(0) })
  return body.items.map(({ id }: { readonly id: number }) => id)
}

for (const [what, given, reason] of WRONG) {
  test.serial(`${what} is an error of the scope: 500, whose reason onError hears and no client`, async (t) => {
    scope = () => given
    for (const [method, path, json] of [
      ['GET', '/tickets', undefined],
      ['GET', '/tickets/1', undefined],
      ['POST', '/tickets', { title: 'new' }],
      ['PATCH', '/tickets/1', { level: 2 }],
      ['DELETE', '/tickets/1', undefined],
    ] as const) {
      const { status, body } = await stage.send(method, path, { json })
      t.is(status, 500, method)
      t.deepEqual(Object.keys(body).sort(), ['code', 'detail', 'status', 'title', 'type'])
      t.notRegex(JSON.stringify(body), /scope|Ticket/)
    }
    t.is(errors.length, 5)
    for (const error of errors.splice(0)) t.regex((error as Error).message, reason)
    t.is(await models.Ticket.count(), TICKETS.length)
  })
}

test.serial('each shape shows its records', async (t) => {
  for (const name of NAMES) t.deepEqual(await idsUnder(SHAPES[name].scope), idsOf(name), name)
  t.is((await idsUnder(null)).length, TICKETS.length)
})

test.serial('conditions name attributes as the model and as the API does, whatever is closed to callers', async (t) => {
  const mine = TICKETS.filter(({ ownerId }) => ownerId === 1).map(({ id }) => id)
  for (const text of ['ownerId=1', 'owner=1', 'OWNER=1']) t.deepEqual(await idsUnder(text), mine, text)
  for (const text of ['secret=null', 'level>0', 'title!=x', 'tag=null', 'Team.regionId=1|id>0', 'notes.Count>0']) {
    t.is((await idsUnder(text)).length, TICKETS.length, text)
  }
  t.deepEqual(await idsUnder({ where: 'owner=1' }), mine)
  t.deepEqual(await idsUnder('id=in=3;1;2'), [1, 2, 3])
})

test.serial('an empty list matches nothing, and its complement everything', async (t) => {
  t.deepEqual(await idsUnder(filter.in('ownerId', [])), [])
  t.deepEqual(await idsUnder(filter.or(filter.in('ownerId', []), filter.eq('id', 2))), [2])
  t.is((await idsUnder(filter.notIn('ownerId', []))).length, TICKETS.length)
  t.deepEqual(await idsUnder({ ownerId: [] }), [])
  t.deepEqual(await idsUnder({ ownerId: [null], id: [1, 2, 3] }), [3])
})

test.serial('values keep their meaning whatever characters they have', async (t) => {
  for (const value of ['a|b', 'a,b', '(x)', 'null', 'a\\', "it's", '$1', ':x', '?']) {
    await models.Ticket.update({ title: value }, { where: { id: 1 } })
    t.deepEqual(await idsUnder(filter.eq('title', value)), [1], value)
    t.deepEqual(await idsUnder(filter.any('notes', filter.eq('ticket.title', value))), [1], value)
  }
})

test.serial(
  'an attribute called where, and resources that let everybody write what a condition reads, are warned of',
  async (t) => {
    await idsUnder(filter.any('notes', filter.eq('text', 'x')))
    await idsUnder(filter.any('notes', filter.eq('text', 'y')))
    await new Promise((resolve) => setImmediate(resolve))
    const of = (code: string) =>
      warnings.filter((warning) => Reflect.get(warning, 'code') === code).map(({ message }) => message)
    t.is(of('CRUD_SCOPE_WHERE').length, 1)
    t.is(of('CRUD_SCOPE_OPEN_PATH').length, 1)
    t.regex(
      of('CRUD_SCOPE_OPEN_PATH')[0] ?? '',
      /^Ticket: the scope's condition depends on Note, whose resource at "\/open-notes"/,
    )
  },
)
