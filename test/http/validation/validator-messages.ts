import ava from 'ava'
import { DataTypes, type ModelAttributes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const served = await openStage(({ sequelize }, app) => {
  const email = {
    type: DataTypes.STRING(40),
    validate: { isEmail: { msg: 'No address.' } },
  }
  const attributes: ModelAttributes = {
    name: {
      type: DataTypes.STRING(30),
      allowNull: false,
      validate: {
        notNull: { msg: 'Say a name.' },
        len: { args: [3, 20] as [number, number], msg: 'Three to twenty.' },
      },
    },
    code: { type: DataTypes.STRING(10), validate: { is: { args: /^[a-z]+$/, msg: 'Small letters only.' } } },
    email: { ...email, unique: { name: 'one_email', msg: 'Somebody has this address.' } },
    level: { type: DataTypes.INTEGER, validate: { min: { args: [1], msg: 'At least one.' }, max: 9 } },
    price: { type: DataTypes.DECIMAL(5, 2), validate: { max: { args: [50], msg: 'Too dear.' } } },
    site: { type: DataTypes.STRING, validate: { isUrl: { msg: 'No site.' } } },
  }
  const named = (plural: string): object => ({ name: { singular: plural, plural }, timestamps: false })
  const Plain = sequelize.define('Plain', attributes, named('plain'))
  const Hooked = sequelize.define(
    'Hooked',
    {
      ...attributes,
      email: { ...email, unique: { name: 'other_email', msg: 'Somebody has this address.' } },
    },
    { ...named('hooked'), hooks: { beforeSave: () => undefined } },
  )
  for (const model of [Plain, Hooked]) {
    app.use(
      crudRouter(model, {
        operations: Operations.AllWithBulk,
        fields: { name: { rules: { maxLength: 10 } } },
      }),
    )
  }
  return { Plain, Hooked }
})

test.after.always(() => served.close())

for (const base of ['/api/plain', '/api/hooked']) {
  test(`the message of a validator is what is told, where it is its rule that is broken: ${base}`, async (t) => {
    const { status, body } = await served.post(base, { name: 'ab', code: 'A1', email: 'x', level: 0, price: 60 })
    t.is(status, 400)
    t.deepEqual(body.errors, {
      name: ['Three to twenty.'],
      code: ['Small letters only.'],
      email: ['No address.'],
      level: ['At least one.'],
      price: ['Too dear.'],
    })
    t.deepEqual((await served.post(base, {})).body.errors, { name: ['Say a name.'] })
    t.deepEqual((await served.post(base, { name: null })).body.errors, { name: ['Say a name.'] })
    t.deepEqual((await served.post(base, { name: 'abc', site: 'x' })).body.errors, { site: ['No site.'] })
  })

  test(`a bound of the options or of the column is told in the package’s words: ${base}`, async (t) => {
    const { body } = await served.post(base, { name: 'x'.repeat(11), level: 10, price: -1000 })
    t.deepEqual(Object.keys(body.errors), ['name', 'level', 'price'])
    for (const [message] of Object.values<string[]>(body.errors)) t.regex(message ?? '', /^must be (between|at)/)
  })

  test(`the message of unique is what is told of a value that is taken: ${base}`, async (t) => {
    t.is((await served.post(base, { name: 'first', email: 'a@test.pl' })).status, 201)
    const { status, body } = await served.post(base, { name: 'second', email: 'a@test.pl' })
    t.is(status, 409)
    t.deepEqual(body.errors, { email: ['Somebody has this address.'] })
    const bulk = await served.post(`${base}/bulk`, [{ name: 'ab' }, { name: 'abc', email: 'a@test.pl' }])
    t.deepEqual(bulk.body.errors, { '[0].name': ['Three to twenty.'] })
  })
}
