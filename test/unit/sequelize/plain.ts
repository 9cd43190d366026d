// What the package does without Sequelize's instances, held against what these do.

import test from 'ava'
import { DataTypes, Model, type ModelAttributeColumnOptions, type ModelStatic, Sequelize } from 'sequelize'
import { comparedDate, stringifyDate } from '../../../lib/sequelize/dates.js'
import { defaultOf, isBuiltPlainly, passesValidators, refusesNull } from '../../../lib/sequelize/plain.js'
import type { Field } from '../../../types/field.js'

const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:', logging: false })

/** What a model may declare of an attribute whose validators look at nothing but its value. */
const DECLARED: readonly NonNullable<ModelAttributeColumnOptions['validate']>[] = [
  { isEmail: true },
  { isEmail: { msg: 'no address' } },
  { isUrl: true },
  { isIP: true },
  { isAlpha: true },
  { isAlphanumeric: { msg: 'letters and digits' } },
  { is: /^[a-z]+$/i },
  { is: ['^[a-z]+$', 'i'] },
  { not: /^[a-z]+$/i },
  { isIn: [['ab', '5']] },
  { notIn: { args: [['ab', '5']], msg: 'none of these' } },
  { len: [2, 5] },
  { len: { args: [2, 5], msg: 'two to five' } },
  { min: 3, max: 7 },
  { isInt: true },
  { isFloat: true },
  { isDecimal: true },
  { isLowercase: true },
  { notEmpty: true },
  { contains: 'a' },
  { equals: 'ab' },
  { isDate: true },
  { isUUID: 4 },
  { isIn: [['ab']], len: [2, 2] },
]

const VALUES: readonly unknown[] = [
  ...['', ' ', 'ab', 'AB', 'a1', '5', '4.5', '-3', 'abcdef', '127.0.0.1', '2024-02-29', 'http://example.com/a?b=c'],
  ...['a@b.c', 'a@b.co', 'a.b-c_d@mail.example.com', 'ä@example.com', 'a@exa_mple.com', '"a b"@example.com', 'a@@b.co'],
  ...['6ba7b810-9dad-41d1-80b4-00c04fd430c8', 5, 0, -1, 4.5, true, new Date(0), ['ab'], { toString: () => 'ab' }],
  ...[null, undefined, Object.create(null)],
]

for (const validate of DECLARED) {
  test(`a value passes ${JSON.stringify(validate)} where an instance with it does`, async (t) => {
    const model = sequelize.define(`m${Math.random()}`, { a: { type: DataTypes.JSON, validate } })
    for (const value of VALUES) {
      const passes = await model
        .build({ a: value })
        .validate()
        .then(
          () => true,
          () => false,
        )
      t.is(passesValidators(model, 'a', value), passes, String(Object.prototype.toString.call(value)))
    }
  })
}

test('an address that is taken for one at a glance is one to Sequelize', async (t) => {
  const model = sequelize.define('mail', { a: { type: DataTypes.STRING, validate: { isEmail: true } } })
  const letters = 'aZ09_-.@é x'
  let [seed, passed] = [7, 0]
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const word = (most: number): string =>
    Array.from({ length: 1 + random(most) }, () =>
      random(30) === 0 ? letters[random(letters.length)] : letters[random(4)],
    ).join('')
  for (let count = 0; count < 3000; count++) {
    const host = Array.from({ length: 1 + random(4) }, () => word(70)).join('.')
    const address = `${word(40)}${random(2) === 0 ? '' : `.${word(40)}`}@${host}.${['com', 'x', '1a', 'museum', 'c-m'][random(5)]}`
    const isOne = await model
      .build({ a: address })
      .validate()
      .then(
        () => true,
        () => false,
      )
    t.is(passesValidators(model, 'a', address), isOne, address)
    if (isOne) passed += 1
  }
  t.true(passed > 300, `${passed} were addresses`)
})

test('what the host has put in the place of a validator is asked', (t) => {
  const model = sequelize.define('own', { a: { type: DataTypes.STRING, validate: { isEmail: true } } })
  const validators = Sequelize as object as { Validator: { isEmail: (text: string) => boolean } }
  const own = validators.Validator.isEmail
  validators.Validator.isEmail = () => false
  try {
    t.false(passesValidators(model, 'a', 'a@example.com'))
  } finally {
    validators.Validator.isEmail = own
  }
})

test('a default is what an instance has', (t) => {
  const model = sequelize.define('defaults', {
    text: { type: DataTypes.STRING, defaultValue: 'x' },
    none: DataTypes.STRING,
    made: { type: DataTypes.STRING, defaultValue: () => 'made' },
    list: { type: DataTypes.JSON, defaultValue: { a: [1] } },
    time: { type: DataTypes.DATE, defaultValue: DataTypes.NOW },
    uuid: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
    call: { type: DataTypes.STRING, defaultValue: Sequelize.literal('now()') },
  })
  const built = model.build({})
  for (const name of ['text', 'none', 'made', 'list', 'call'])
    t.deepEqual(defaultOf(model, name), built.getDataValue(name as never), name)
  t.true(defaultOf(model, 'time') instanceof Date)
  t.not(defaultOf(model, 'uuid'), defaultOf(model, 'uuid'))
})

test('a null is refused where an instance refuses it', async (t) => {
  const model = sequelize.define('nulls', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true, allowNull: false },
    wanted: { type: DataTypes.STRING, allowNull: false },
    free: DataTypes.STRING,
  })
  t.deepEqual(
    ['id', 'wanted', 'free', 'createdAt'].map((name) => refusesNull(model, name)),
    [false, true, false, false],
  )
  await t.throwsAsync(model.build({}).validate(), { message: /wanted cannot be null/ })
  await t.notThrowsAsync(model.build({ wanted: 'x' }).validate())
})

test('an instance is built plainly where nothing of the host’s runs in it', (t) => {
  class Plain extends Model {
    named(): unknown {
      return this.constructor.name
    }
  }
  class Made extends Model {
    constructor(...given: ConstructorParameters<typeof Model>) {
      super(...given)
      this.setDataValue('a' as never, 'made' as never)
    }
  }
  class Below extends Made {}
  class Built extends Model {
    static override build(): never {
      throw new Error('the host builds its instances')
    }
  }
  class Setting extends Model {
    override set(...given: Parameters<Model['set']>): this {
      return super.set(...given)
    }
  }
  const attributes = { a: DataTypes.STRING }
  const classes: readonly (readonly [model: ModelStatic<Model>, plain: boolean])[] = [
    [Plain, true],
    [Made, false],
    [Below, false],
    [Built, false],
    [Setting, false],
  ]
  for (const [model, plain] of classes) {
    ;(model as typeof Plain).init(attributes, { sequelize })
    t.is(isBuiltPlainly(model), plain, model.name)
  }
  t.true(isBuiltPlainly(sequelize.define('defined', attributes)))
  t.true(isBuiltPlainly(sequelize.define('scoped', attributes).unscoped()))
  t.true(isBuiltPlainly(sequelize.define('framed', attributes).schema('s')))
  const setting = { a: { type: DataTypes.STRING, set: () => undefined } }
  t.false(isBuiltPlainly(sequelize.define('setting', setting)))
  t.false(isBuiltPlainly(sequelize.define('methods', attributes, { setterMethods: { b: () => undefined } } as object)))
})

test('dates are written as Sequelize’s types write them, in every time zone and of a host’s own type as well', (t) => {
  const instants = [
    '0000-01-01T00:00:00.000Z',
    '0999-12-31T23:59:59.999Z',
    '2024-02-29T12:30:00.000Z',
    '9999-12-31T23:59:59.999Z',
  ]
  const dates = [
    ...instants.map((text) => new Date(text)),
    new Date(253_402_300_800_000),
    new Date(-62_198_755_200_000),
  ]
  for (const dialect of ['sqlite', 'postgres', 'mysql', 'mariadb'] as const) {
    for (const timezone of ['+00:00', '+02:00', 'Europe/Paris']) {
      // SQLite's text has the offset in it, and Sequelize lets it have no other.
      const zone = dialect === 'sqlite' ? '+00:00' : timezone
      const other = new Sequelize({ dialect, timezone: zone, logging: false })
      const model = other.define('dated', {
        plain: DataTypes.DATE,
        exact: DataTypes.DATE(3),
        day: DataTypes.DATEONLY,
        minutes: Object.assign(DataTypes.DATE(), { _stringify: (date: Date) => date.toISOString().slice(0, 16) }),
      })
      for (const [name, attribute] of Object.entries(model.getAttributes())) {
        const type = attribute.type as object as { stringify?(date: Date, options: object): string }
        if (!/^(plain|exact|day|minutes)$/.test(name)) continue
        const field = { name } as Field
        for (const date of [...dates, ...dates]) {
          t.is(stringifyDate(model, field, date), type.stringify?.(date, { timezone: zone }), `${dialect} ${name}`)
        }
        if (name !== 'plain') continue
        const exact = model.getAttributes().exact?.type as object as typeof type
        for (const date of dates) t.is(comparedDate(model, field, date), exact.stringify?.(date, { timezone: zone }))
      }
    }
  }
})
