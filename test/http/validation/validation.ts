import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const PATTERN = /^[a-z]+$/

/** How often a pattern of the model's met a text that is too long for it. */
let met = 0

const served = await openStage(({ sequelize }, app) => {
  const attributes: ModelAttributes = {
    name: { type: DataTypes.STRING(20), allowNull: false },
    code: { type: DataTypes.STRING(10), validate: { not: { args: /[A-Z]/, msg: 'No capitals.' } } },
    level: { type: DataTypes.INTEGER, validate: { isIn: { args: [[1, 2, 3]], msg: 'One of three.' } } },
  }
  const own: ModelAttributes = {
    ...attributes,
    color: {
      type: DataTypes.STRING(10),
      validate: {
        known(value: string) {
          met += value.length > 10 ? 1 : 0
          if (!PATTERN.test(value)) throw new Error('No color.')
        },
      },
    },
    lowest: DataTypes.INTEGER,
    highest: DataTypes.INTEGER,
    tag: {
      type: DataTypes.STRING(40),
      set(value: string) {
        this.setDataValue('tag', `${(this.get('name') as string).toLowerCase()}-${value}`)
      },
    },
  }
  const named = (plural: string): object => ({ name: { singular: plural, plural }, timestamps: false })
  const validate = {
    inOrder(this: Model) {
      const { lowest, highest } = this.get() as { lowest: number; highest: number }
      if (lowest > highest) throw new Error('The lowest comes first.')
    },
    spelt(this: Model) {
      // Breaks where there is no name.
      if ((this.get('name') as string).startsWith('x')) throw new Error('No x.')
    },
  }
  const Plain = sequelize.define('Plain', attributes, named('plain'))
  const Own = sequelize.define('Own', own, { ...named('own'), validate })
  const Saved = sequelize.define('Saved', own, { ...named('saved'), validate, hooks: { beforeSave: () => undefined } })
  const Filled = sequelize.define('Filled', own, {
    ...named('filled'),
    validate,
    hooks: { beforeValidate: (record) => void record.set('code', 'small') },
  })
  const Guarded = sequelize.define('Guarded', { ...attributes, rowVersion: DataTypes.INTEGER }, named('guarded'))
  for (const model of [Plain, Own, Saved, Filled]) app.use(crudRouter(model, { operations: Operations.AllWithBulk }))
  app.use(
    crudRouter(Guarded, {
      concurrency: true,
      scope: ({ request }) => ({ level: Number(request.get('x-level') ?? 1) }),
    }),
  )
  app.use(
    crudRouter(Plain, {
      route: 'api/before',
      operations: Operations.AllWithBulk,
      hooks: { beforeCreate: ({ instance }) => void instance.set('code', 'small') },
    }),
  )
  return { Plain, Own, Saved, Filled, Guarded }
})

test.after.always(() => served.close())

for (const base of ['/api/plain', '/api/own', '/api/saved']) {
  test(`what the rules and the validators of the model find is told together: ${base}`, async (t) => {
    const { status, body } = await served.post(base, { name: 5, code: 'A', level: 9 })
    t.is(status, 400)
    t.is(body.code, 'validation')
    t.deepEqual(body.errors, { name: ['must be a string.'], code: ['No capitals.'], level: ['One of three.'] })
    t.deepEqual((await served.post(base, { level: 9 })).body.errors, {
      name: ['is required.'],
      level: ['One of three.'],
    })
  })

  test(`a field that fails a rule is not told twice: ${base}`, async (t) => {
    const { body } = await served.post(base, { name: 'a', code: 'A'.repeat(11), level: 'B' })
    t.deepEqual(body.errors, { code: ['must be at most 10 characters.'], level: ['must be an integer.'] })
  })

  test(`each record of several is told all that is wrong with it: ${base}`, async (t) => {
    const { status, body } = await served.post(`${base}/bulk`, [
      { name: 'a', level: 9 },
      { name: 5, code: 'A' },
      'text',
      { name: 'fine' },
      { code: 'B' },
    ])
    t.is(status, 400)
    t.deepEqual(body.errors, {
      '[0].level': ['One of three.'],
      '[1].name': ['must be a string.'],
      '[1].code': ['No capitals.'],
      '[2]': ['must be an object.'],
      '[4].name': ['is required.'],
      '[4].code': ['No capitals.'],
    })
    t.is((await served.get(base)).body.totalCount, 0)
  })

  test(`a PATCH is told all that is wrong with it, once there is a record to write: ${base}`, async (t) => {
    const { body: made } = await served.post(base, { name: 'made' })
    const patched = await served.patch(`${base}/${made.id}`, { name: null, code: 'A' })
    t.is(patched.status, 400)
    t.deepEqual(patched.body.errors, { name: ['cannot be null.'], code: ['No capitals.'] })
    t.deepEqual((await served.patch(`${base}/${made.id}`, { level: 9 })).body.errors, { level: ['One of three.'] })
    for (const body of [{ level: 9 }, { name: null }, { name: null, level: 9 }]) {
      t.is((await served.patch(`${base}/${made.id + 1000}`, body)).status, 404, JSON.stringify(body))
    }
    t.is((await served.get(`${base}/${made.id}`)).body.name, 'made')
    await served.delete(`${base}/${made.id}`)
  })
}

for (const base of ['/api/own', '/api/saved']) {
  test(`the validators of the whole model say what they find in the values that passed: ${base}`, async (t) => {
    const wrong = { lowest: 2, highest: 1, color: 'A', level: 'x' }
    const found = { level: ['must be an integer.'], color: ['No color.'], inOrder: ['The lowest comes first.'] }
    const { body } = await served.post(base, { name: 'a', ...wrong })
    t.deepEqual(body.errors, found)
    const { body: made } = await served.post(base, { name: 'made', lowest: 2 })
    const patched = await served.patch(`${base}/${made.id}`, { highest: 1, level: 'x' })
    t.deepEqual(patched.body.errors, { level: found.level, inOrder: found.inOrder })
    await served.delete(`${base}/${made.id}`)
  })

  test(`what a validator or a setter breaks on for want of a value that failed is not told: ${base}`, async (t) => {
    t.deepEqual((await served.post(base, { name: 5 })).body.errors, { name: ['must be a string.'] })
    t.deepEqual((await served.post(base, { tag: 'x' })).body.errors, { name: ['is required.'] })
    t.deepEqual((await served.post(base, { name: 'x1', level: 'x' })).body.errors, {
      level: ['must be an integer.'],
      spelt: ['No x.'],
    })
  })

  test(`a text that is too long is met by no validator: ${base}`, async (t) => {
    met = 0
    const { body } = await served.post(base, { name: 5, color: 'A'.repeat(11), level: 9 })
    t.deepEqual(body.errors, {
      name: ['must be a string.'],
      color: ['must be at most 10 characters.'],
      level: ['One of three.'],
    })
    t.is(met, 0)
  })
}

test('validators are not asked in front of hooks that may change what they look at', async (t) => {
  for (const base of ['/api/filled', '/api/before']) {
    const { body } = await served.post(base, { name: 5, code: 'A' })
    t.deepEqual(body.errors, { name: ['must be a string.'] }, base)
    const { status, body: made } = await served.post(base, { name: 'fine', code: 'A' })
    t.is(status, 201, base)
    t.is(made.code, 'small')
  }
})

test('a PATCH is 404 before 428, 428 before 412, and all of them before what is wrong with its body', async (t) => {
  const { body: made, headers } = await served.post('/api/guarded', { name: 'made' })
  const path = `/api/guarded/${made.id}`
  const patch = (url: string, match: string | null, body: object, level = '1') =>
    served.patch(url, body, { 'x-level': level, ...(match === null ? {} : { 'If-Match': match }) })
  for (const body of [{ code: 'A' }, { name: null }, { name: null, code: 'A' }]) {
    const of = JSON.stringify(body)
    t.is((await patch(`/api/guarded/${made.id + 1000}`, null, body)).status, 404, of)
    t.is((await patch(`/api/guarded/${made.id + 1000}`, 'W/"0"', body)).status, 404, of)
    t.is((await patch(path, 'W/"0"', body, '2')).status, 404, of)
    t.is((await patch(path, null, body)).status, 428, of)
    t.is((await patch(path, 'W/"7"', body)).status, 412, of)
    t.is((await patch(path, String(headers.get('etag')), body)).status, 400, of)
  }
})
