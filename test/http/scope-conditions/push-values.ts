// Conditions that differ in values alone are asked together. Whatever the values, a client hears of what its list has.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter, filter } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

const IDS = [
  '00000000-0000-4000-8000-00000000000a',
  '00000000-0000-4000-8000-00000000000b',
  '00000000-0000-4000-8000-00000000000A',
  '00000000-0000-4000-8000-0000000000aa',
]

/** Values of each attribute, which some databases take for one another. */
const VALUES: Readonly<Record<string, readonly (string | number | boolean)[]>> = {
  text: ['a', 'A', 'a ', 'ä', 'Ä', '', '%', '_', '\\', "'", '"]#0', '1', '1.0', '01', '1e0', '😀', 'null'],
  whole: [0, 1, -1, 2147483647, -2147483648, 7],
  large: ['9007199254740993', '9007199254740992', '9223372036854775807', '0', '1', '-9223372036854775808'],
  uuid: IDS,
  price: ['1.50', '1.5', '1.51', '0.00', '99999999.99'],
  day: ['2020-02-29', '2020-03-01', '1999-12-31', '2020-02-28', '2021-01-01'],
  since: [
    '2020-02-29T10:00:00.000Z',
    '2020-02-29T11:00:00.000Z',
    '2020-02-29T10:00:01.000Z',
    '2019-02-28T10:00:00.000Z',
  ],
  state: ['open', 'closed', 'other', 'none'],
  isOpen: [true, false],
}

let mounted: CrudRouter | undefined
const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const attributes = () => ({
    text: DataTypes.STRING(20),
    whole: DataTypes.INTEGER,
    large: DataTypes.BIGINT,
    uuid: DataTypes.UUID,
    price: DataTypes.DECIMAL(10, 2),
    day: DataTypes.DATEONLY,
    since: DataTypes.DATE(3),
    state: DataTypes.ENUM('open', 'closed', 'other', 'none'),
    isOpen: DataTypes.BOOLEAN,
  })
  const Thing = sequelize.define('Thing', attributes(), plain)
  const Part = sequelize.define('Part', attributes(), plain)
  Thing.hasMany(Part, { as: 'parts', foreignKey: 'thingId', constraints: false })
  const open = { createPolicy: () => true, updatePolicy: () => true, deletePolicy: () => true }
  app.use(crudRouter(Part, { ...open, route: 'parts' }))
  mounted = crudRouter(Thing, {
    route: 'things',
    identity: identityFromHeader,
    push: { io },
    scope: ({ identity }) => {
      const [kind, name, value]: readonly [string, string, string | number | boolean] = JSON.parse(
        identity?.name ?? '[""]',
      )
      if (kind === 'array') return { [name]: [value, null] }
      if (kind === 'own') return filter.eq(name, value)
      if (kind === 'other') return filter.and(filter.ne(name, value), filter.notNull(name))
      return kind === 'part' ? filter.any('parts', filter.eq(name, value)) : null
    },
  })
  app.use(mounted)
})
if (mounted === undefined) throw new TypeError('no router')
const things: CrudRouter = mounted
const Thing = stage.sequelize.model('Thing')
const Part = stage.sequelize.model('Part')

test.afterEach.always(async () => {
  things.resource.hub?.disconnectSockets()
  for (const model of [Thing, Part]) await model.destroy({ where: {} })
})

test.after.always(async () => {
  await stage.close()
})

for (const [name, values] of Object.entries(VALUES)) {
  test.serial(`clients whose scopes differ in a value of ${name} hear of the records of their lists`, async (t) => {
    const callers = ['array', 'own', 'other', 'part'].flatMap((kind) =>
      values.map((value) => JSON.stringify([kind, name, value])),
    )
    // Headers are ASCII.
    const headersOf = (caller: string) =>
      asUser(caller.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`))
    const root = await stage.subscribe(things, { headers: asUser('["root"]') })
    const clients = await Promise.all(callers.map((caller) => stage.subscribe(things, { headers: headersOf(caller) })))
    for (const { refusal } of clients) t.is(refusal, null)
    const rows = values.flatMap((value) => [
      { own: value, part: null },
      { own: null, part: value },
    ])
    for (const { own, part } of rows) {
      const thing = await Thing.create({ [name]: own } as never)
      await Part.create({ [name]: part, thingId: thing.get('id') } as never)
      things.notify?.created(Number(thing.get('id')))
    }
    await stage.drain(things, root, (id) => ({ id }))
    t.is(root.received.length, rows.length)
    let count = 0
    for (const [index, caller] of callers.entries()) {
      const { body } = await stage.get('/things?pageSize=1000&sort=id', headersOf(caller))
      const listed = body.items.map(({ id }: { readonly id: number }) => id)
      const heard = clients[index]?.received.map(([, record]) => (record as { readonly id: number }).id)
      t.deepEqual(heard, listed, caller)
      count += listed.length
    }
    t.true(count >= rows.length)
  })
}
