import ava from 'ava'
import Joi from 'joi'
import { DataTypes, type ModelValidateOptions } from 'sequelize'
import { crudRouter, type MessageCode, Operations, openApi } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

type Row = readonly [
  name: string,
  validate: ModelValidateOptions,
  bad: string,
  good: string,
  message: string,
  code: MessageCode,
]

const ROWS: readonly Row[] = [
  ['isIn', { isIn: [['a', 'b']] }, 'c', 'b', 'must be one of: a, b.', 'enum'],
  ['isInFirst', { isIn: ['ab', 'cd'] as never }, 'cd', 'ab', 'must be one of: ab.', 'enum'],
  ['isInNull', { isIn: [[null, 'a']] as never }, 'null', '', 'must be one of: a.', 'enum'],
  ['notIn', { notIn: [['a', 'b']] }, 'a', 'c', 'must not be one of: a, b.', 'not-in'],
  ['notEmpty', { notEmpty: true }, ' \t', 'x', 'must not be blank.', 'blank'],
  ['isUrl', { isUrl: true }, 'no url', 'https://example.com/a', 'is not a valid URL.', 'url'],
  ['isUUID', { isUUID: 4 }, 'x', '8d2c7a86-5a6b-4c1d-9d6f-0a1b2c3d4e5f', 'is not a valid UUID.', 'uuid-form'],
  ['isNumeric', { isNumeric: true }, 'x', '1.5', 'must be numeric.', 'numeric'],
  ['isInt', { isInt: true }, '1.5', '15', 'must be a whole number.', 'whole'],
  ['isAlpha', { isAlpha: true }, 'a1', 'ab', 'must contain only letters.', 'letters'],
  ['isAlphanumeric', { isAlphanumeric: true }, 'a-1', 'a1', 'must contain only letters and digits.', 'letters-digits'],
  ['isLowercase', { isLowercase: true }, 'aB', 'ab', 'must be lower case.', 'lower-case'],
  ['isUppercase', { isUppercase: true }, 'aB', 'AB', 'must be upper case.', 'upper-case'],
  ['isIP', { isIP: true }, '1.2.3', '1.2.3.4', 'is not a valid IP address.', 'ip'],
  ['isIPv4', { isIPv4: true }, '::1', '1.2.3.4', 'is not a valid IP address.', 'ip'],
  ['isDate', { isDate: true as never }, 'soon', '2026-01-01', 'is not a valid date.', 'valid-date'],
  ['isAfter', { isAfter: '2026-01-01' }, '2025-12-31', '2026-01-02', 'must be after 2026-01-01.', 'after'],
  ['isBefore', { isBefore: '2026-01-01' }, '2026-01-02', '2025-12-31', 'must be before 2026-01-01.', 'before'],
  ['contains', { contains: 'a.b' as never }, 'axb', 'xa.b', 'must contain "a.b".', 'contains'],
  ['notContains', { notContains: 'a' as never }, 'xa', 'x', 'must not contain "a".', 'not-contains'],
  ['equals', { equals: 'a' }, 'b', 'a', 'must be "a".', 'equals'],
  ['isCreditCard', { isCreditCard: true }, '4111', '4111111111111111', 'is not a valid card number.', 'card-number'],
  // Sequelize alone asks this one.
  [
    'isMACAddress',
    { isMACAddress: true } as ModelValidateOptions,
    'x',
    '01:02:03:04:05:06',
    'does not pass the check isMACAddress.',
    'check',
  ],
]

const BAD = Object.fromEntries(ROWS.map(([name, , bad]) => [name, bad]))
const GOOD = Object.fromEntries(ROWS.map(([name, , , good]) => [name, good]))
const ERRORS = Object.fromEntries(ROWS.map(([name, , , , message]) => [name, [message]]))

const prefixed = (prefix: string): object =>
  Object.fromEntries(Object.entries(ERRORS).map(([name, messages]) => [`${prefix}.${name}`, messages]))

const served = await openStage(({ sequelize }, app) => {
  const attributes = Object.fromEntries(
    ROWS.map(([name, validate]) => [name, { type: DataTypes.STRING, field: `c_${name}`, validate }]),
  )
  const named = (plural: string): object => ({ name: { singular: plural, plural }, timestamps: false })
  const Plain = sequelize.define('Plain', attributes, named('plain'))
  const Hooked = sequelize.define('Hooked', attributes, {
    ...named('hooked'),
    hooks: { beforeSave: () => undefined },
  })
  const Group = sequelize.define('Group', { name: DataTypes.STRING }, named('groups'))
  Group.hasMany(Plain, { as: 'members', foreignKey: 'groupId', onDelete: 'CASCADE' })
  const Other = sequelize.define(
    'Other',
    {
      level: { type: DataTypes.INTEGER, validate: { isIn: [[1, 2, 3]] } },
      count: { type: DataTypes.INTEGER, validate: { isInt: { min: 2, max: 5 } as never } },
      day: { type: DataTypes.DATEONLY, validate: { isAfter: '2026-01-01' } },
      at: { type: DataTypes.DATE, validate: { isBefore: '2026-01-01', isDate: true as never } },
      price: { type: DataTypes.DECIMAL(8, 2), validate: { isFloat: { min: 1 } as never } },
      role: { type: DataTypes.STRING, validate: { isIn: { args: [['a', 'b']], msg: 'No such role.' } } },
      folded: {
        type: DataTypes.STRING,
        validate: { isLowercase: true },
        set(this: { setDataValue(name: string, value: unknown): void }, value: unknown) {
          this.setDataValue('folded', typeof value === 'string' ? value.toLowerCase() : value)
        },
      },
      loud: {
        type: DataTypes.STRING,
        validate: { len: [3, 5] },
        set(this: { setDataValue(name: string, value: unknown): void }, value: unknown) {
          this.setDataValue('loud', typeof value === 'string' ? value.slice(0, 2) : value)
        },
      },
    },
    named('others'),
  )
  const word = { word: { type: DataTypes.STRING, validate: { isLowercase: true } } }
  const Word = sequelize.define('Word', word, named('words'))
  const Folded = sequelize.define('Folded', word, {
    ...named('folded'),
    hooks: {
      beforeValidate: (record) => {
        record.set('word', String(record.get('word')).toLowerCase())
      },
    },
  })
  const fields = { word: { schema: Joi.string() } }
  app.use(crudRouter(Word, { fields }))
  app.use(crudRouter(Folded, { fields }))
  app.use(crudRouter(Folded, { route: 'api/ruled' }))
  const operations = Operations.AllWithBulk + Operations.BulkUpdate + Operations.Replace
  const plain = crudRouter(Plain, { operations })
  app.use(plain)
  for (const model of [Hooked, Other]) app.use(crudRouter(model, { operations }))
  app.use(crudRouter(Group, { relations: { members: { write: true, resource: plain } } }))
  const messages = (code: MessageCode, parameters: object): string => `${code} ${JSON.stringify(parameters)}`
  app.use(crudRouter(Plain, { route: 'api/told', messages }))
  return { Plain, Hooked, Group, Other, Word, Folded }
})

test.after.always(() => served.close())

for (const base of ['/api/plain', '/api/hooked']) {
  test(`built-in validators are told in the package’s words by every write: ${base}`, async (t) => {
    const created = await served.post(base, BAD)
    t.is(created.status, 400)
    t.deepEqual(created.body.errors, ERRORS)
    const { status, body } = await served.post(base, GOOD)
    t.is(status, 201)
    const path = `${base}/${body.id}`
    t.deepEqual((await served.patch(path, BAD)).body.errors, ERRORS)
    t.deepEqual((await served.send('PUT', path, { json: BAD })).body.errors, ERRORS)
    t.is((await served.patch(path, GOOD)).status, 200)
    t.is((await served.send('PUT', path, { json: GOOD })).status, 200)
    const bulk = await served.post(`${base}/bulk`, [GOOD, BAD])
    t.deepEqual(bulk.body.errors, prefixed('[1]'))
    const updates = await served.patch(`${base}/bulk`, [{ id: body.id, ...BAD }])
    t.deepEqual(updates.body.errors, prefixed('[0]'))
    t.is((await served.post(`${base}/bulk`, [GOOD])).status, 201)
  })
}

test('they are told of records in bodies of others', async (t) => {
  const { status, body } = await served.post('/api/groups', { name: 'a', members: [GOOD, BAD] })
  t.is(status, 400)
  t.deepEqual(body.errors, prefixed('members[1]'))
})

test('each has its code and parameters for messages in other words', async (t) => {
  const { body } = await served.post('/api/told', BAD)
  t.deepEqual(
    Object.entries<string[]>(body.errors).map(([name, [message = '']]) => [name, message.split(' ')[0]]),
    ROWS.map(([name, , , , , code]) => [name, code]),
  )
  t.deepEqual(body.errors.isIn, ['enum {"values":["a","b"]}'])
  t.deepEqual(body.errors.isAfter, ['after {"date":"2026-01-01"}'])
  t.deepEqual(body.errors.contains, ['contains {"text":"a.b"}'])
})

test('numbers, days and instants meet them, a message of the model stays, and a setter has the first word', async (t) => {
  const bad = { level: 4, count: 6, day: '2025-01-01', at: '2027-01-01', price: 0.5, role: 'c', loud: 'abc' }
  const { body } = await served.post('/api/others', bad)
  t.deepEqual(body.errors, {
    level: ['must be one of: 1, 2, 3.'],
    count: ['must be between 2 and 5.'],
    day: ['must be after 2026-01-01.'],
    at: ['must be before 2026-01-01.'],
    price: ['must be at least 1.'],
    role: ['No such role.'],
    loud: ['must be between 3 and 5 characters.'],
  })
  const good = { level: 3, count: 2, day: '2026-05-01', at: '2025-01-01', price: 1, role: 'a', folded: 'ABC' }
  const created = await served.post('/api/others', good)
  t.is(created.status, 201)
  t.is(created.body.folded, 'abc')
  t.is((await served.post('/api/others', { level: null, day: null, role: null })).status, 201)
})

test('a schema replaces them for bodies, and Sequelize still validates what hooks have made', async (t) => {
  const refused = await served.post('/api/words', { word: 'ABC' })
  t.is(refused.status, 400)
  t.deepEqual(refused.body.errors, { word: ['must be lower case.'] })
  t.is((await served.post('/api/folded', { word: 'ABC' })).body.word, 'abc')
  t.is((await served.post('/api/ruled', { word: 'ABC' })).status, 400)
})

test('documents have them as far as JSON Schema does', async (t) => {
  const { Plain, Other } = served
  const schemas = (model: typeof Plain, name: string): Record<string, object> => {
    const document = openApi({
      resources: [crudRouter(model, { route: 'documented' })],
      info: { title: 'x', version: '1' },
    })
    const { components } = document as unknown as {
      components: { schemas: Record<string, { properties: Record<string, object>; $ref?: string }> }
    }
    const resolve = (schema: object): object => {
      const text = JSON.stringify(schema)
      const [, ref] = /"\$ref":"#\/components\/schemas\/(\w+)"/.exec(text) ?? []
      return ref === undefined ? schema : (components.schemas[ref] ?? {})
    }
    const properties = components.schemas[name]?.properties ?? {}
    return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, resolve(schema)]))
  }
  const { isIn, notIn, notEmpty, isUUID, contains, notContains, equals, isUrl } = schemas(Plain, 'PlainCreate')
  t.like(isIn, { enum: ['a', 'b', null] })
  t.deepEqual(Reflect.get(Object(schemas(Plain, 'PlainCreate').isInNull), 'enum'), ['', 'a', null])
  t.like(notIn, { not: { enum: ['a', 'b'] } })
  t.like(notEmpty, { pattern: '\\S' })
  t.like(isUUID, { format: 'uuid' })
  t.like(contains, { pattern: 'a\\.b' })
  t.like(notContains, { not: { type: 'string', pattern: 'a' } })
  t.like(equals, { enum: ['a', null] })
  t.like(isUrl, { description: 'A URL.' })
  t.like(schemas(Other, 'OtherCreate').level, { enum: [1, 2, 3, null] })
})
