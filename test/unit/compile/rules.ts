import test from 'ava'
import fc from 'fast-check'
import Joi from 'joi'
import { DataTypes, type ModelAttributeColumnOptions, Sequelize } from 'sequelize'
import { createDecoder } from '../../../lib/codec/codecs.js'
import { loadJoi } from '../../../lib/codec/joi.js'
import { CrudConfigError } from '../../../lib/common/errors.js'
import { type BodyOptions, createBodyValidator, createRules, hasOnlyExactRules } from '../../../lib/compile/rules.js'
import { valueTypeOf } from '../../../lib/compile/valueType.js'
import type { Field, JsonValue, Rules, ValueCheck, ValueType } from '../../../types/field.js'
import type { MessageCode, MessageParameters } from '../../../types/messages.js'
import type { FieldRules } from '../../../types/options.js'
import { sqliteOptions } from '../../support/database.js'

await loadJoi()

const INTEGER: ValueType = { type: 'integer', min: -2147483648n, max: 2147483647n }
const BIGINT: ValueType = { type: 'bigint', min: -9223372036854775808n, max: 9223372036854775807n }
const MONEY: ValueType = { type: 'decimal', precision: 20, scale: 2, jsonType: 'string' }
const PRICE: ValueType = { type: 'decimal', precision: 10, scale: 2, jsonType: 'number' }
const STATUS: ValueType = { type: 'enum', values: ['Pending', 'In {Transit}', 'Shipped'] }
const NO_RULES: Rules = { required: false }

function field(json: string, valueType: ValueType, more: Partial<Field> = {}): Field {
  return {
    name: `${json}Attribute`,
    json,
    column: json,
    valueType,
    nullable: true,
    virtual: false,
    getter: false,
    isKey: false,
    assigned: false,
    targets: new Set(),
    filterable: true,
    sortable: true,
    operators: new Set(),
    rules: NO_RULES,
    decode: createDecoder(valueType),
    ...more,
  }
}

function validator(fields: readonly Field[], options: Partial<BodyOptions> = {}) {
  const validate = createBodyValidator(fields, {
    mode: 'create',
    unknown: 'ignore',
    known: new Set(),
    schemas: new Map(),
    ...options,
  })
  return (body: Readonly<Record<string, unknown>>) => {
    const result = validate(body)
    return 'errors' in result ? result.errors : Object.fromEntries(result.changes)
  }
}

/** The value that one field reads, or its messages. */
function read(valueType: ValueType, rules: Partial<Rules>, raw: unknown): unknown {
  const outcome = validator([field('x', valueType, { rules: { ...NO_RULES, ...rules } })])({ x: raw })
  return Object.hasOwn(outcome, 'xAttribute')
    ? { value: Reflect.get(outcome, 'xAttribute') }
    : Reflect.get(outcome, 'x')
}

type Accepted = readonly [valueType: ValueType, raw: unknown, value: unknown]

const ACCEPTED: readonly Accepted[] = [
  [{ type: 'string', maxLength: 3 }, '', ''],
  [{ type: 'string', maxLength: 3 }, 'ąęó', 'ąęó'],
  [{ type: 'string', maxLength: 3 }, '😀😀😀', '😀😀😀'],
  [{ type: 'string' }, ' kept as it is ', ' kept as it is '],
  [INTEGER, 2147483647, 2147483647],
  [INTEGER, -2147483648, -2147483648],
  [INTEGER, 5.0, 5],
  [BIGINT, 5, '5'],
  [BIGINT, -9007199254740991, '-9007199254740991'],
  [BIGINT, '9007199254740993', '9007199254740993'],
  [BIGINT, '-9223372036854775808', '-9223372036854775808'],
  [PRICE, 19.99, '19.99'],
  [PRICE, 5, '5'],
  [PRICE, -0, '0'],
  [PRICE, 99999999.99, '99999999.99'],
  [MONEY, 5000, '5000'],
  [MONEY, '123456789012345678.90', '123456789012345678.9'],
  [MONEY, '+007.500', '7.5'],
  [{ type: 'decimal', jsonType: 'string' }, 1e-7, '0.0000001'],
  [{ type: 'float' }, 1e300, 1e300],
  [{ type: 'float', maxMagnitude: 3.4028234663852886e38 }, -1.5, -1.5],
  [{ type: 'boolean' }, false, false],
  [{ type: 'datetime' }, '2024-01-15T12:30:45+02:00', new Date('2024-01-15T10:30:45Z')],
  [{ type: 'datetime' }, '2024-02-29', new Date('2024-02-29T00:00:00Z')],
  [{ type: 'date' }, '2024-02-29', '2024-02-29'],
  [{ type: 'time' }, '09:30', '09:30:00'],
  [{ type: 'uuid' }, 'C2D29867-3D0B-D497-9191-18A9D8EE7830', 'c2d29867-3d0b-d497-9191-18a9d8ee7830'],
  [STATUS, 'In {Transit}', 'In {Transit}'],
  [{ type: 'json' }, { a: [1, 'b', null] }, { a: [1, 'b', null] }],
  [{ type: 'json' }, 'text', 'text'],
  [{ type: 'json' }, false, false],
  [{ type: 'blob' }, 'WmHFvA==', Buffer.from('Zaż')],
  [{ type: 'blob' }, '', Buffer.alloc(0)],
]

test('a value of the field’s type is taken as Sequelize wants it', (t) => {
  for (const [valueType, raw, value] of ACCEPTED) {
    t.deepEqual(read(valueType, {}, raw), { value }, `${valueType.type} ${JSON.stringify(raw)}`)
  }
})

type Refused = readonly [valueType: ValueType, rules: Partial<Rules>, raw: unknown, ...messages: string[]]

const NUL = 'must not contain NUL characters or unpaired surrogates.'
const INEXACT = 'has more digits than a JSON number keeps; send it as a string.'
const BIGINT_BOUNDS = 'must be between -9223372036854775808 and 9223372036854775807.'
const name: ValueType = { type: 'string', maxLength: 255 }

const REFUSED: readonly Refused[] = [
  [name, {}, 5, 'must be a string.'],
  [name, {}, ['a'], 'must be a string.'],
  [name, {}, {}, 'must be a string.'],
  [name, {}, 'a\0b', NUL],
  [name, {}, '\ud83d', NUL],
  [name, {}, 'x'.repeat(256), 'must be at most 255 characters.'],
  [{ type: 'string', maxLength: 3 }, {}, '😀😀😀😀', 'must be at most 3 characters.'],
  [name, { minLength: 2 }, 'x', 'must be at least 2 characters.'],
  [name, { minLength: 2 }, '', 'must be at least 2 characters.'],
  [name, { minLength: 2 }, '😀', 'must be at least 2 characters.'],
  [name, { minLength: 2 }, '❤\ufe0f', 'must be at least 2 characters.'],
  [name, { minLength: 2 }, 'x'.repeat(256), 'must be at most 255 characters.'],
  [name, { maxLength: 50 }, 'x'.repeat(51), 'must be at most 50 characters.'],
  [name, { minLength: 2, maxLength: 50 }, 'x', 'must be between 2 and 50 characters.'],
  [name, { minLength: 2, maxLength: 50 }, 'x'.repeat(300), 'must be between 2 and 50 characters.'],
  [
    { type: 'string', maxLength: 10 },
    { minLength: 2, maxLength: 50 },
    'x'.repeat(11),
    'must be between 2 and 10 characters.',
  ],
  [name, { match: [/^[A-Z]/] }, 'jan', 'does not match the required pattern.'],
  [name, { match: [/^[A-Z]/, /^\S+$/] }, 'j n', 'does not match the required pattern.'],
  [
    name,
    { minLength: 5, match: [/^[A-Z]/], email: true },
    'jan',
    'must be at least 5 characters.',
    'is not a valid email address.',
    'does not match the required pattern.',
  ],
  [INTEGER, {}, '5', 'must be an integer.'],
  [INTEGER, {}, true, 'must be an integer.'],
  [INTEGER, {}, 5.5, 'must be an integer.'],
  [INTEGER, {}, [5], 'must be an integer.'],
  [INTEGER, {}, 2147483648, 'must be between -2147483648 and 2147483647.'],
  [INTEGER, {}, -1e30, 'must be between -2147483648 and 2147483647.'],
  [INTEGER, {}, Number.POSITIVE_INFINITY, 'must be a finite number.'],
  [INTEGER, { min: 1, max: 100 }, 0, 'must be between 1 and 100.'],
  [INTEGER, { min: 1, max: 100 }, 101, 'must be between 1 and 100.'],
  [INTEGER, { min: 1, max: 100 }, 100.5, 'must be an integer.', 'must be between 1 and 100.'],
  [INTEGER, { min: 1 }, 0, 'must be at least 1.'],
  [INTEGER, { min: 1 }, 2147483648, 'must be at most 2147483647.'],
  [INTEGER, { max: 9 }, 10, 'must be at most 9.'],
  [INTEGER, { min: 1, max: 1e12 }, 2147483648, 'must be between 1 and 2147483647.'],
  [BIGINT, {}, '5', 'must be an integer.'],
  [BIGINT, {}, '09007199254740993', 'must be an integer.'],
  [BIGINT, {}, '+9007199254740993', 'must be an integer.'],
  [BIGINT, {}, '9007199254740993.0', 'must be an integer.'],
  [BIGINT, {}, 1.5, 'must be an integer.'],
  [BIGINT, {}, 9007199254740992, INEXACT],
  [BIGINT, {}, 1e30, BIGINT_BOUNDS],
  [BIGINT, {}, '9223372036854775808', BIGINT_BOUNDS],
  [BIGINT, { min: 10 }, 9, 'must be at least 10.'],
  [PRICE, {}, '19.99', 'must be a number.'],
  [PRICE, {}, Number.POSITIVE_INFINITY, 'must be a number.'],
  [PRICE, {}, 19.999, 'must have at most 2 decimal places.'],
  [PRICE, {}, 100000000, 'must be between -99999999.99 and 99999999.99.'],
  [PRICE, {}, -100000000.001, 'must have at most 2 decimal places.', 'must be between -99999999.99 and 99999999.99.'],
  [PRICE, { min: 0.01 }, 0, 'must be at least 0.01.'],
  [{ ...PRICE, min: 0n }, {}, -1, 'must be between 0 and 99999999.99.'],
  [{ ...PRICE, precision: 3, scale: 1 }, {}, 1.55, 'must have at most 1 decimal place.'],
  [{ ...PRICE, precision: 2, scale: 2 }, {}, 1, 'must be between -0.99 and 0.99.'],
  [MONEY, {}, 'a lot', 'must be a decimal number.'],
  [MONEY, {}, '1e5', 'must be a decimal number.'],
  [MONEY, {}, true, 'must be a decimal number.'],
  [MONEY, {}, 1234567890123456.8, INEXACT],
  [MONEY, {}, 1e17, INEXACT],
  [MONEY, {}, '0.001', 'must have at most 2 decimal places.'],
  [MONEY, {}, '1000000000000000000', 'must be between -999999999999999999.99 and 999999999999999999.99.'],
  [{ type: 'float' }, {}, '1.5', 'must be a number.'],
  [{ type: 'float' }, {}, Number.NaN, 'must be a number.'],
  [{ type: 'float' }, {}, Number.POSITIVE_INFINITY, 'must be a finite number.'],
  [
    { type: 'float', maxMagnitude: 3.4028234663852886e38 },
    {},
    1e39,
    'must be between -3.4028234663852886e+38 and 3.4028234663852886e+38.',
  ],
  [{ type: 'boolean' }, {}, 'true', 'must be a boolean.'],
  [{ type: 'boolean' }, {}, 1, 'must be a boolean.'],
  [{ type: 'datetime' }, {}, '2024-02-30', 'must be a date-time.'],
  [{ type: 'datetime' }, {}, '20240115T1230Z', 'must be a date-time.'],
  [{ type: 'datetime' }, {}, 1705321845000, 'must be a date-time.'],
  [{ type: 'date' }, {}, '2024-02-30', 'must be a date.'],
  [{ type: 'date' }, {}, '2024-02-28T00:00:00Z', 'must be a date.'],
  [{ type: 'time' }, {}, '25:00', 'must be a time.'],
  [{ type: 'uuid' }, {}, 'c2d29867', 'must be a UUID.'],
  [STATUS, {}, 'pending', 'must be one of: Pending, In {Transit}, Shipped.'],
  [STATUS, {}, 1, 'must be one of: Pending, In {Transit}, Shipped.'],
  [{ type: 'blob' }, {}, 'WmHFvA', 'must be base64 text.'],
  [{ type: 'blob' }, {}, '-_-_', 'must be base64 text.'],
  [{ type: 'blob' }, {}, 'WmHF\nvA==', 'must be base64 text.'],
  [{ type: 'blob' }, {}, 'WmHFvB==', 'must be base64 text.'],
  [{ type: 'blob' }, {}, [90], 'must be base64 text.'],
  [{ type: 'blob', maxLength: 2 }, {}, 'WmHFvA==', 'must be at most 2 bytes.'],
  [{ type: 'json' }, {}, { a: ['b\0'] }, NUL],
  [{ type: 'json' }, {}, { 'a\0': 1 }, NUL],
  [{ type: 'json' }, {}, '\ud83d', NUL],
  [{ type: 'json' }, {}, JSON.parse(`${'['.repeat(32)}${']'.repeat(32)}`), 'must not be nested deeper than 31 levels.'],
  [
    { type: 'json' },
    {},
    JSON.parse(`${'['.repeat(9999)}${']'.repeat(9999)}`),
    'must not be nested deeper than 31 levels.',
  ],
]

test('what is no value of the field is told in the ruled words, each once', (t) => {
  for (const [valueType, rules, raw, ...messages] of REFUSED) {
    const title = `${valueType.type} ${typeof raw === 'string' ? raw.slice(0, 30) : typeof raw}`
    t.deepEqual(read(valueType, rules, raw), messages, title)
  }
})

const EMAILS: readonly (readonly [email: string, isOne: boolean])[] = [
  ['jan@test.pl', true],
  ['jan.kowalski+tag@sub.example.anything', true],
  ['ż@ż.ż', true],
  ['a@b.c', true],
  ['jan', false],
  ['jan@test', false],
  ['jan@test.', false],
  ['jan@.pl', false],
  ['jan@te..pl', false],
  ['@test.pl', false],
  ['jan@', false],
  ['jan@kowalski@test.pl', false],
  ['jan kowalski@test.pl', false],
  ['jan@test.pl ', false],
  ['jan@test\t.pl', false],
  ['', false],
]

test('an e-mail address has one @, no blanks and a dot within its domain', (t) => {
  for (const [email, isOne] of EMAILS) {
    const expected = isOne ? { value: email } : ['is not a valid email address.']
    t.deepEqual(read(name, { email: true }, email), expected, email)
  }
})

const PLAYER: readonly Field[] = [
  field(
    'name',
    { type: 'string', maxLength: 50 },
    { nullable: false, rules: { required: true, minLength: 2, maxLength: 50 } },
  ),
  field('level', INTEGER, { nullable: false, rules: { required: false, min: 1, max: 100 } }),
  field('email', name, { rules: { required: false, email: true } }),
  field('constructor', name, { nullable: false }),
]

test('create asks for what is required, and all failures of all fields are told at once', (t) => {
  const create = validator(PLAYER)
  t.deepEqual(create({ name: 'Jan' }), { nameAttribute: 'Jan' })
  t.deepEqual(create({ name: 'Jan', email: null }), { nameAttribute: 'Jan', emailAttribute: null })
  t.deepEqual(create({}), { name: ['is required.'] })
  t.deepEqual(create({ name: null, level: null, email: 5, constructor: null }), {
    name: ['cannot be null.'],
    level: ['cannot be null.'],
    email: ['must be a string.'],
    constructor: ['cannot be null.'],
  })
  t.deepEqual(create({ name: 'J', level: '5', email: 'x' }), {
    name: ['must be between 2 and 50 characters.'],
    level: ['must be an integer.'],
    email: ['is not a valid email address.'],
  })
})

test('update leaves what is absent, clears what is null and checks what is present', (t) => {
  const update = validator(PLAYER, { mode: 'update' })
  t.deepEqual(update({}), {})
  t.deepEqual(update({ email: null }), { emailAttribute: null })
  t.deepEqual(update({ level: 7 }), { levelAttribute: 7 })
  t.deepEqual(update({ name: null, level: 0 }), { name: ['cannot be null.'], level: ['must be between 1 and 100.'] })
})

test('null is refused by every type in the same words', (t) => {
  const types: readonly ValueType[] = [
    { type: 'string' },
    INTEGER,
    BIGINT,
    MONEY,
    { type: 'float' },
    { type: 'boolean' },
    { type: 'datetime' },
    { type: 'date' },
    { type: 'time' },
    { type: 'uuid' },
    STATUS,
    { type: 'json' },
    { type: 'blob' },
  ]
  for (const valueType of types) {
    const required = field('x', valueType, { rules: { required: true } })
    t.deepEqual(
      validator([field('x', valueType, { nullable: false })])({ x: null }),
      { x: ['cannot be null.'] },
      valueType.type,
    )
    t.deepEqual(validator([required])({ x: null }), { x: ['cannot be null.'] }, valueType.type)
    t.deepEqual(validator([field('x', valueType)])({ x: null }), { xAttribute: null }, valueType.type)
  }
})

test('unknown names are ignored, or refused where the host wants it, and other spellings of names are refused', (t) => {
  const body = { name: 'Jan', id: 7, nickname: 'y' }
  t.deepEqual(validator(PLAYER)(body), { nameAttribute: 'Jan' })
  t.deepEqual(validator(PLAYER, { unknown: 'reject', known: new Set(['id']) })(body), {
    nickname: ['is not a known property.'],
  })
  for (const unknown of ['ignore', 'reject'] as const) {
    const validate = validator(PLAYER, { unknown, known: new Set(['id']) })
    t.deepEqual(validate({ name: 'Jan', Name: 'x', ID: 7 }), { Name: ['is not a known property. Did you mean name?'] })
  }
})

test('a body cannot lend properties through its prototype, nor pollute one', (t) => {
  const body: Record<string, unknown> = JSON.parse('{"__proto__": {"name": "Jan", "level": "x"}, "toString": 1}')
  t.deepEqual(validator(PLAYER)(body), { name: ['is required.'] })
  const reject = createBodyValidator([], { mode: 'update', unknown: 'reject', known: new Set(), schemas: new Map() })
  const result = reject(body)
  const errors = 'errors' in result ? result.errors : {}
  t.deepEqual(Object.keys(errors), ['__proto__', 'toString'])
  t.is(Object.getPrototypeOf(errors), Object.prototype)
  const inherited: Record<string, unknown> = Object.create({ name: 'Jan' })
  t.deepEqual(validator(PLAYER)(inherited), { name: ['is required.'] })
})

test('the body is left as it was', (t) => {
  const body = Object.freeze({ name: 'Jan', at: '2024-01-15', tags: Object.freeze(['a']) })
  const fields = [...PLAYER, field('at', { type: 'datetime' }), field('tags', { type: 'json' })]
  t.deepEqual(validator(fields)(body), {
    nameAttribute: 'Jan',
    atAttribute: new Date('2024-01-15T00:00:00Z'),
    tagsAttribute: ['a'],
  })
  t.is(body.at, '2024-01-15')
})

test('a schema of the host stands in for the derived one, with its own settings and words', (t) => {
  const schemas = new Map<string, Joi.Schema>([
    ['name', Joi.string().trim().lowercase().min(3).required()],
    ['level', Joi.number().default(1)],
    ['email', Joi.string().messages({ 'string.base': 'Give text, please.' })],
  ])
  const create = validator(PLAYER, { schemas })
  t.deepEqual(create({ name: '  JAN ', level: '7' }), { nameAttribute: 'jan', levelAttribute: 7 })
  t.deepEqual(create({ name: 'Jan' }), { nameAttribute: 'jan', levelAttribute: 1 })
  t.deepEqual(create({ email: 5, constructor: 5 }), {
    name: ['is required'],
    email: ['Give text, please.'],
    constructor: ['must be a string.'],
  })
  t.deepEqual(validator(PLAYER, { schemas, mode: 'update' })({}), {})
  t.deepEqual(validator(PLAYER, { schemas, mode: 'update' })({ name: 'x' }), {
    name: ['length must be at least 3 characters long'],
  })
})

test('failures inside a host’s object schema are told by their path', (t) => {
  const schemas = new Map([
    ['settings', Joi.object({ colours: Joi.array().items(Joi.string()), theme: Joi.required() })],
  ])
  const create = validator([field('settings', { type: 'json' })], { schemas })
  t.deepEqual(create({ settings: { colours: ['red', 5] } }), {
    'settings.colours[1]': ['must be a string'],
    'settings.theme': ['is required'],
  })
})

type Attribute = Partial<ModelAttributeColumnOptions>

const string: ModelAttributeColumnOptions = { type: DataTypes.STRING(50) }
const integer: ModelAttributeColumnOptions = { type: DataTypes.INTEGER }

/** The rules of an attribute as Sequelize keeps it in a model. */
function modelRules(base: ModelAttributeColumnOptions, more: Attribute, options?: FieldRules) {
  const sequelize = new Sequelize({ ...sqliteOptions, logging: false })
  const model = sequelize.define('Player', { x: { ...base, ...more } }, { timestamps: false })
  const attribute = model.getAttributes().x
  if (attribute === undefined) throw new Error('no attribute')
  return {
    rules: createRules(attribute, valueTypeOf(attribute), options),
    exact: hasOnlyExactRules(attribute),
  }
}

const check = (
  name: string,
  args: readonly unknown[],
  code: MessageCode,
  parameters: MessageParameters = {},
): ValueCheck => ({
  name,
  args,
  message: { code, parameters },
})

const MODEL_RULES: readonly (readonly [ModelAttributeColumnOptions, Attribute, Rules, exact: boolean])[] = [
  [string, {}, { required: false }, true],
  [string, { allowNull: false }, { required: true }, true],
  [string, { allowNull: false, defaultValue: 'x' }, { required: false }, true],
  [integer, { allowNull: false, defaultValue: 0 }, { required: false }, true],
  [integer, { primaryKey: true, autoIncrement: true }, { required: false }, true],
  [string, { primaryKey: true }, { required: true }, true],
  [string, { allowNull: false, validate: { notNull: { msg: 'Name it.' } } }, { required: true }, true],
  [string, { validate: { len: [2, 50] } }, { required: false, minLength: 2, maxLength: 50 }, true],
  [
    string,
    { validate: { len: { args: [2, 50], msg: 'No.' } } },
    { required: false, minLength: 2, maxLength: 50 },
    true,
  ],
  [integer, { validate: { len: [2, 50] } }, { required: false }, false],
  [integer, { validate: { min: 1, max: 100 } }, { required: false, min: 1, max: 100 }, true],
  [integer, { validate: { min: { args: [1], msg: 'No.' } } }, { required: false, min: 1 }, true],
  [integer, { validate: { isInt: true } }, { required: false }, true],
  [integer, { validate: { isInt: { msg: 'No.' } } }, { required: false }, true],
  [integer, { validate: { isInt: { args: { min: 5 }, msg: 'No.' } as never } }, { required: false, min: 5 }, false],
  [string, { validate: { min: 1 } }, { required: false }, false],
  [string, { validate: { is: /^a/ } }, { required: false, match: [/^a/] }, true],
  [string, { validate: { is: /^a/gi } }, { required: false, match: [/^a/i] }, true],
  [string, { validate: { is: /a/y } }, { required: false, match: [/a/] }, false],
  [string, { validate: { is: ['^a', 'i'] } }, { required: false, match: [/^a/i] }, true],
  [string, { validate: { is: { args: /^a/, msg: 'No.' } } }, { required: false, match: [/^a/] }, true],
  [string, { validate: { is: ['(', 'i'] } }, { required: false }, false],
  [string, { validate: { notEmpty: true } }, { required: false, checks: [check('notEmpty', [true], 'blank')] }, true],
  [
    string,
    { validate: { isIn: [['a', 'b']] } },
    { required: false, checks: [check('isIn', [['a', 'b']], 'enum', { values: ['a', 'b'] })] },
    true,
  ],
  [
    string,
    { validate: { len: [2, 50], isUppercase: true } },
    { required: false, minLength: 2, maxLength: 50, checks: [check('isUppercase', [true], 'upper-case')] },
    true,
  ],
  [string, { validate: { isUppercase: true }, set: () => {} }, { required: false }, false],
  [string, { validate: { own: () => {} } }, { required: false }, false],
  [string, { validate: { len: [2, 50] }, set: () => {} }, { required: false, minLength: 2, maxLength: 50 }, false],
]

test('a model’s validators become rules, and it is known which of them are covered', (t) => {
  for (const [base, more, rules, exact] of MODEL_RULES) {
    const title = String(JSON.stringify(more.validate ?? more))
    const { messages, ...derived } = modelRules(base, more).rules
    t.deepEqual({ rules: derived, exact: modelRules(base, more).exact }, { rules, exact }, title)
    // What a validator says by itself is what is told of its rule.
    t.is(
      messages !== undefined,
      title.includes('"msg"') && Object.keys(rules).some((rule) => rule !== 'required' || rules.required),
      title,
    )
  }
})

test('an address passes the model’s own validator, with its settings and its message', (t) => {
  for (const isEmail of [true, { msg: 'No.' }, { args: { allow_display_name: true } } as never]) {
    const { rules, exact } = modelRules(string, { validate: { isEmail } })
    t.true(exact)
    const hasDefaults = isEmail === true || 'msg' in Object(isEmail)
    t.is(rules.email, hasDefaults ? true : undefined)
    const message = isEmail === true || !hasDefaults ? 'is not a valid email address.' : 'No.'
    t.deepEqual(read(name, rules, 'jan@test'), [message])
    t.deepEqual(read(name, rules, 'jan@test.p'), [message])
    t.deepEqual(read(name, rules, 'jan@test.pl'), { value: 'jan@test.pl' })
    t.is(Array.isArray(read(name, rules, 'Jan <jan@test.pl>')), hasDefaults)
  }
})

test('the rules of the model and of the options are both in force', (t) => {
  const { rules } = modelRules(
    string,
    { validate: { len: [2, 50], is: /^a/ } },
    { required: true, minLength: 1, maxLength: 20, email: true, match: /z$/g },
  )
  t.deepEqual(rules, { required: true, minLength: 2, maxLength: 20, email: true, match: [/^a/, /z$/] })
  t.deepEqual(modelRules(integer, { validate: { min: 1, max: 50 } }, { min: 5, max: 100 }).rules, {
    required: false,
    min: 5,
    max: 50,
  })
  t.deepEqual(modelRules(string, { allowNull: false }, { required: false }).rules, {
    required: false,
    filled: true,
  })
  t.true(Object.isFrozen(rules))
})

test('a rule that the field’s type cannot have is refused by name', (t) => {
  const error = t.throws(() => modelRules(integer, {}, { minLength: 2 }), { instanceOf: CrudConfigError })
  t.is(error?.code, 'RULE_TYPE')
  t.is(
    error?.message,
    'Player.x: rules.minLength applies to strings, not to integer. For other types set the option "schema" to a Joi schema. (RULE_TYPE)',
  )
  t.throws(() => modelRules(string, {}, { max: 2 }), { instanceOf: CrudConfigError })
})

test('a pattern of the host keeps no state between bodies', (t) => {
  const { rules } = modelRules(string, {}, { match: /^a/g })
  for (let round = 0; round < 3; round += 1) t.deepEqual(read(name, rules, 'abc'), { value: 'abc' })
})

test('what passes the derived rules passes Sequelize’s own validators', async (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, logging: false })
  const model = sequelize.define(
    'Player',
    {
      text: { type: DataTypes.STRING, validate: { len: [2, 5], is: /^\P{Cc}+$/u } },
      level: { type: DataTypes.INTEGER, validate: { min: 1, max: 100, isInt: true } },
      price: { type: DataTypes.DECIMAL(30, 2), validate: { min: 0.1, max: 1000 } },
      email: { type: DataTypes.STRING, validate: { isEmail: { msg: 'No.' } } },
      code: { type: DataTypes.STRING, validate: { isAlphanumeric: true, notIn: [['a', 'B']], notEmpty: true } },
    },
    { timestamps: false },
  )
  const fields = Object.entries(model.getAttributes()).map(([json, attribute]) => {
    const valueType = valueTypeOf(attribute)
    if (json !== 'id') t.true(hasOnlyExactRules(attribute), json)
    return field(json, valueType, { name: json, rules: createRules(attribute, valueType) })
  })
  const validate = createBodyValidator(fields, {
    mode: 'update',
    unknown: 'ignore',
    known: new Set(),
    schemas: new Map(),
  })
  const characters = fc.constantFrom('a', 'é', '😀', '\ufe0f', '❤', '\n', '\ufe0e')
  const values = {
    text: fc.array(characters, { maxLength: 9 }).map((all) => all.join('')),
    level: fc.integer({ min: -5, max: 110 }),
    price: fc.oneof(fc.integer({ min: -1, max: 1001 }), fc.constantFrom('0.1', '0.09', '1000.00', '1000.01')),
    email: fc.oneof(
      fc.emailAddress(),
      fc.constantFrom('a@b.c', 'a..b@test.pl', 'a@b.example', 'a@test_.pl', 'A <a@b.pl>'),
    ),
    code: fc.oneof(fc.constantFrom('', 'a', 'B', 'b ', 'ü'), fc.string({ unit: fc.constantFrom('a', 'B', '1', '-') })),
  }
  const bodies = fc.record(values, { requiredKeys: [] })
  let passed = 0
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const result = validate(body)
      if ('errors' in result) return
      passed += 1
      await model.build(Object.fromEntries(result.changes)).validate()
    }),
    { numRuns: 1000 },
  )
  t.true(passed > 20, `${passed} bodies passed`)
})

test('what is written comes back as it was sent', (t) => {
  const values: readonly (readonly [ValueType, fc.Arbitrary<JsonValue>])[] = [
    [{ type: 'string' }, fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))],
    [INTEGER, fc.integer()],
    [
      BIGINT,
      fc
        .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
        .map((n) => (Number.isSafeInteger(Number(n)) ? Number(n) : String(n))),
    ],
    [PRICE, fc.integer({ min: -(10 ** 10) + 1, max: 10 ** 10 - 1 }).map((cents) => cents / 100 + 0)],
    [
      MONEY,
      fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }).map((cents) => {
        const digits = String(cents).padStart(3, '0')
        return `${digits.slice(0, -2)}.${digits.slice(-2)}`
      }),
    ],
    [{ type: 'float' }, fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0)],
    [{ type: 'boolean' }, fc.boolean()],
    [
      { type: 'datetime' },
      fc
        .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
        .map((date) => date.toISOString()),
    ],
    [{ type: 'uuid' }, fc.uuid()],
    [{ type: 'blob' }, fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'))],
    [STATUS, fc.constantFrom(...(STATUS.values ?? []))],
  ]
  for (const [valueType, arbitrary] of values) {
    const decode = createDecoder(valueType)
    const validate = createBodyValidator([field('x', valueType)], {
      mode: 'update',
      unknown: 'ignore',
      known: new Set(),
      schemas: new Map(),
    })
    fc.assert(
      fc.property(arbitrary, (sent) => {
        const result = validate({ x: sent })
        if ('errors' in result) throw new Error(`${valueType.type}: ${result.errors.x}`)
        return Object.is(decode(result.changes.get('xAttribute')), sent)
      }),
    )
  }
  t.pass()
})

test('a body of a megabyte is refused in a moment, whatever rule it is held against', (t) => {
  const validate = validator([
    field('text', { type: 'string', maxLength: 50 }, { rules: { required: false, minLength: 2, email: true } }),
    field('money', MONEY),
    field('big', BIGINT),
    field('bytes', { type: 'blob' }),
  ])
  const size = 1_000_000
  const started = performance.now()
  validate({
    text: `a@${'.a'.repeat(size / 2)} `,
    money: '9'.repeat(size),
    big: '9'.repeat(size),
    bytes: 'A'.repeat(size),
  })
  validate({
    text: '😀'.repeat(size / 2),
    money: `0.${'0'.repeat(size)}1`,
    big: `-${'9'.repeat(size)}`,
    bytes: '='.repeat(size),
  })
  t.true(performance.now() - started < 1000)
})

test('a body in which nothing is wrong gives what joi gives, which is asked where something is', (t) => {
  const types: readonly ValueType[] = [
    ...[INTEGER, BIGINT, MONEY, PRICE, STATUS, { type: 'float', maxMagnitude: 1e30 }, { type: 'boolean' }],
    ...[{ type: 'string', maxLength: 5 }, { type: 'datetime' }, { type: 'date' }, { type: 'time' }, { type: 'uuid' }],
    ...[{ type: 'json' }, { type: 'blob' }],
  ] as const
  const raws: readonly unknown[] = [
    ...[0, -0, 1, -1, 1.5, 5, 6, 2 ** 31, 2 ** 53, 1e30, 1e31, Number.NaN, Number.POSITIVE_INFINITY, true, false, null],
    ...['', 'a', 'abcdef', '5', '1.50', 'Pending', 'pending', '2024-02-29', '2024-02-30', '2024-02-29T10:00:00Z'],
    ...['10:00', 'D086BAEA-0000-4000-8000-000000006666', 'aGk=', 'a\0', {}, [], [1], { a: null }, undefined],
  ]
  let passed = 0
  for (const mode of ['create', 'update'] as const) {
    for (const type of types) {
      const isNumber = ['integer', 'bigint', 'decimal', 'float'].includes(type.type)
      const ruled: readonly Partial<Rules>[] = [{}, { required: true }, isNumber ? { min: 1, max: 5 } : {}]
      for (const rules of ruled) {
        for (const nullable of [true, false]) {
          const x = field('x', type, { nullable, rules: { ...NO_RULES, ...rules } })
          const options = { mode, unknown: 'ignore', known: new Set<string>(), schemas: new Map() } as const
          const alone = createBodyValidator([x], options)
          const beside = createBodyValidator([x, field('wrong', INTEGER)], options)
          for (const raw of raws) {
            const one = alone({ x: raw })
            // With something wrong beside it joi reads the whole body.
            const two = beside({ x: raw, wrong: 'x' })
            const about = `${mode} ${type.type} ${JSON.stringify(raw)}`
            t.deepEqual(one.changes.get('xAttribute'), two.changes.get('xAttribute'), about)
            t.deepEqual('errors' in one ? one.errors.x : undefined, 'errors' in two ? two.errors.x : undefined, about)
            if (!('errors' in one)) passed += 1
          }
        }
      }
    }
  }
  t.true(passed > 500, `${passed} passed`)
})
