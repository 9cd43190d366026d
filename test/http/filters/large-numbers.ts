// Numbers that no column holds, in filters, typed parameters and paging: arithmetic goes on where columns end.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { keysOf, list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const attributes = {
  small: DataTypes.SMALLINT,
  whole: DataTypes.INTEGER,
  big: DataTypes.BIGINT,
  amount: DataTypes.DECIMAL(10, 2),
  long: DataTypes.DECIMAL(30, 10),
  bare: DataTypes.DECIMAL,
  single: DataTypes.FLOAT,
  real: DataTypes.REAL,
  double: DataTypes.DOUBLE,
}
const names = Object.keys(attributes)

const filled = (value: number): Record<string, number> => Object.fromEntries(names.map((name) => [name, value]))

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Holder = sequelize.define('Holder', { name: DataTypes.STRING }, plain)
  const columns = { ...attributes, holderId: DataTypes.INTEGER }
  const Numbers = sequelize.define('Number', columns, plain)
  const Hooked = sequelize.define('Hooked', columns, { ...plain, tableName: 'Numbers' })
  Hooked.addHook('beforeFind', () => undefined)
  Holder.hasMany(Numbers, { as: 'numbers', foreignKey: 'holderId', constraints: false })
  for (const model of [Holder, Numbers]) app.use(crudRouter(model))
  app.use(crudRouter(Hooked, { route: 'api/hooked' }))
  return { Holder, Number: Numbers, Hooked }
})
const { Holder, Number: Numbers } = server
await Holder.bulkCreate([{ name: 'one' }, { name: 'none' }])
await Numbers.bulkCreate([
  { ...filled(5), holderId: 1 },
  { ...filled(-5), holderId: 1 },
  { holderId: 1 } as Record<string, number>,
])
test.after.always(() => server.close())

/** Digits in numbers: beyond 64 bits, beyond a decimal's 65 digits, beyond a single float, beyond a double. */
const DIGITS = [20, 39, 66, 310, 2000]

for (const name of names) {
  test(`no row equals a number beyond the column, and all are on one side of it: ${name}`, async (t) => {
    for (const digits of DIGITS) {
      for (const end of digits === 66 ? ['', '.5'] : ['']) {
        const more = '9'.repeat(digits) + (end !== '' && /small|whole|big/.test(name) ? '' : end)
        const found: readonly (readonly [filter: string, ids: readonly number[]])[] = [
          [`=${more}`, []],
          [`!=${more}`, [1, 2, 3]],
          [`>${more}`, []],
          [`>=${more}`, []],
          [`<${more}`, [1, 2]],
          [`<=${more}`, [1, 2]],
          [`=in=${more};5`, [1]],
          [`=in=${more}`, []],
          [`=out=${more};5`, [2, 3]],
          [`=-${more}`, []],
          [`!=-${more}`, [1, 2, 3]],
          [`>-${more}`, [1, 2]],
          [`>=-${more}`, [1, 2]],
          [`<-${more}`, []],
          [`<=-${more}`, []],
          [`=in=-${more};-5`, [2]],
        ]
        for (const path of ['/api/numbers', '/api/hooked']) {
          for (const [filter, ids] of found) {
            const about = `${path} ${filter.slice(0, 30)} with ${digits} digits`
            const answer = await list(server, path, { filter: name + filter })
            t.is(answer.status, 200, `${about}: ${answer.text.slice(0, 200)}`)
            t.deepEqual(
              answer.body.items?.map(({ id }: { id: number }) => id),
              ids,
              about,
            )
          }
          for (const sign of ['', '-']) t.deepEqual(await keysOf(server, path, { [name]: sign + more }), [], name)
        }
      }
    }
  })

  test(`a number beyond the column means the same of elements: ${name}`, async (t) => {
    const more = '9'.repeat(400)
    for (const [filter, ids] of [
      [`Numbers.${name}=${more}`, []],
      [`Numbers.${name}<${more}`, [1]],
      [`Numbers.All.${name}!=${more}`, [1, 2]],
      [`Numbers.Count(${name}>-${more})=2`, [1]],
      [`Numbers.Count<${more}`, [1, 2]],
      [`Numbers.Count=${more}`, []],
    ] as const) {
      t.deepEqual(await keysOf(server, '/api/holders', { filter }), ids, filter.slice(0, 40))
    }
  })
}

test('a page or pageSize of too many digits is answered like one that is too large', async (t) => {
  for (const digits of ['1001', '9'.repeat(16), '9'.repeat(20), '9'.repeat(400), `0${'9'.repeat(400)}`]) {
    for (const more of [{}, { cursor: '' }, { select: 'id' }]) {
      const { status, body } = await list(server, '/api/numbers', { pageSize: digits, ...more })
      t.is(status, 400)
      t.is(body.title, 'Invalid query.')
      t.deepEqual(body.errors, { pageSize: ['must be at most 1000.'] }, digits.slice(0, 30))
    }
  }
  for (const digits of ['9'.repeat(16), '9'.repeat(20), '9'.repeat(400)]) {
    const { status, body } = await list(server, '/api/numbers', { page: digits })
    t.is(status, 400)
    t.deepEqual(body.errors, { page: ['is too large.'] }, digits.slice(0, 30))
  }
  for (const text of ['0', '-1', '1.5', '1e3', `-${'9'.repeat(400)}`, 'x']) {
    const { body } = await list(server, '/api/numbers', { page: text, pageSize: 5 })
    t.deepEqual(body.errors, { page: ['must be a whole number from 1.'] }, text.slice(0, 30))
  }
})

test('a key of too many digits is a record that does not exist', async (t) => {
  for (const digits of ['9'.repeat(20), '9'.repeat(400)]) t.is((await server.get(`/api/numbers/${digits}`)).status, 404)
})
