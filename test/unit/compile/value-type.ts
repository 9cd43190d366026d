import test from 'ava'
import { type DataType, DataTypes, type Dialect, Sequelize } from 'sequelize'
import { valueTypeOf } from '../../../lib/compile/valueType.js'
import type { ValueType } from '../../../types/field.js'
import { dialectOptions } from '../../support/database.js'

const DIALECTS: readonly Dialect[] = ['sqlite', 'mysql', 'mariadb', 'postgres']
const SINGLE = 3.4028234663852886e38
const json: ValueType = { type: 'json' }

const TYPES: readonly (readonly [name: string, type: DataType, expected: ValueType])[] = [
  ['STRING', DataTypes.STRING, { type: 'string', maxLength: 255 }],
  ['STRING(50)', DataTypes.STRING(50), { type: 'string', maxLength: 50 }],
  ['STRING(20).BINARY', DataTypes.STRING(20).BINARY, { type: 'string', maxLength: 20, binary: true }],
  ['CHAR(3)', DataTypes.CHAR(3), { type: 'string', maxLength: 3, padded: true }],
  ['TEXT', DataTypes.TEXT, { type: 'string' }],
  ['CITEXT', DataTypes.CITEXT, { type: 'string' }],
  ['TINYINT', DataTypes.TINYINT, { type: 'integer', min: -128n, max: 127n }],
  ['TINYINT.UNSIGNED', DataTypes.TINYINT.UNSIGNED, { type: 'integer', min: 0n, max: 255n }],
  ['SMALLINT', DataTypes.SMALLINT, { type: 'integer', min: -32768n, max: 32767n }],
  ['MEDIUMINT', DataTypes.MEDIUMINT, { type: 'integer', min: -8388608n, max: 8388607n }],
  ['INTEGER', DataTypes.INTEGER, { type: 'integer', min: -2147483648n, max: 2147483647n }],
  ['INTEGER.UNSIGNED', DataTypes.INTEGER.UNSIGNED, { type: 'integer', min: 0n, max: 4294967295n }],
  ['BIGINT', DataTypes.BIGINT, { type: 'bigint', min: -9223372036854775808n, max: 9223372036854775807n }],
  ['BIGINT.UNSIGNED', DataTypes.BIGINT({ unsigned: true }), { type: 'bigint', min: 0n, max: 18446744073709551615n }],
  ['DECIMAL', DataTypes.DECIMAL, { type: 'decimal', jsonType: 'string' }],
  ['DECIMAL(10)', DataTypes.DECIMAL(10), { type: 'decimal', precision: 10, scale: 0, jsonType: 'number' }],
  ['DECIMAL(10,2)', DataTypes.DECIMAL(10, 2), { type: 'decimal', precision: 10, scale: 2, jsonType: 'number' }],
  ['DECIMAL(15,2)', DataTypes.DECIMAL(15, 2), { type: 'decimal', precision: 15, scale: 2, jsonType: 'number' }],
  ['DECIMAL(16,2)', DataTypes.DECIMAL(16, 2), { type: 'decimal', precision: 16, scale: 2, jsonType: 'string' }],
  [
    'DECIMAL(8,2).UNSIGNED',
    DataTypes.DECIMAL(8, 2).UNSIGNED,
    { type: 'decimal', precision: 8, scale: 2, jsonType: 'number', min: 0n },
  ],
  ['FLOAT', DataTypes.FLOAT, { type: 'float', maxMagnitude: SINGLE, single: true }],
  ['FLOAT(10,2)', DataTypes.FLOAT(10, 2), { type: 'float', maxMagnitude: SINGLE, single: true }],
  ['REAL', DataTypes.REAL, { type: 'float', maxMagnitude: SINGLE, real: true }],
  ['DOUBLE', DataTypes.DOUBLE, { type: 'float' }],
  ['BOOLEAN', DataTypes.BOOLEAN, { type: 'boolean' }],
  ['DATE', DataTypes.DATE, { type: 'datetime' }],
  ['DATE(3)', DataTypes.DATE(3), { type: 'datetime', scale: 3 }],
  ['DATEONLY', DataTypes.DATEONLY, { type: 'date' }],
  ['TIME', DataTypes.TIME, { type: 'time' }],
  ['UUID', DataTypes.UUID, { type: 'uuid' }],
  ['UUIDV1', DataTypes.UUIDV1, { type: 'uuid' }],
  ['UUIDV4', DataTypes.UUIDV4, { type: 'uuid' }],
  ['ENUM', DataTypes.ENUM('Pending', 'Shipped'), { type: 'enum', values: ['Pending', 'Shipped'] }],
  ['JSON', DataTypes.JSON, { type: 'json', document: true }],
  ['JSONB', DataTypes.JSONB, { ...json, document: true, parsed: true }],
  ['BLOB', DataTypes.BLOB, { type: 'blob' }],
  ['BLOB(tiny)', DataTypes.BLOB('tiny'), { type: 'blob', maxLength: 255 }],
  ['BLOB(long)', DataTypes.BLOB('long'), { type: 'blob' }],
  ['VIRTUAL', DataTypes.VIRTUAL, json],
  ['VIRTUAL(STRING(20))', DataTypes.VIRTUAL(DataTypes.STRING(20)), { type: 'string', maxLength: 20 }],
  ['VIRTUAL(INTEGER)', DataTypes.VIRTUAL(DataTypes.INTEGER), { type: 'integer', min: -2147483648n, max: 2147483647n }],
  ['a type written as SQL', 'POLYGON', json],
  ['VARCHAR(20)', 'VARCHAR(20)', { type: 'string', maxLength: 20 }],
  ['character varying (20)', 'character varying (20)', { type: 'string', maxLength: 20 }],
  ['char(3)', 'char(3)', { type: 'string', maxLength: 3, padded: true }],
  ['MEDIUMTEXT', 'MEDIUMTEXT', { type: 'string' }],
  ['INT(11) UNSIGNED', 'INT(11) UNSIGNED', { type: 'integer', min: 0n, max: 4294967295n }],
  ['NUMERIC(8, 2)', 'NUMERIC(8, 2)', { type: 'decimal', precision: 8, scale: 2, jsonType: 'number' }],
  ['jsonb', 'jsonb', { type: 'json', document: true, parsed: true }],
]

const ON_POSTGRES: readonly (readonly [name: string, type: DataType, form?: ValueType['form']])[] = [
  ['INET', DataTypes.INET, 'text'],
  ['CIDR', DataTypes.CIDR, 'text'],
  ['MACADDR', DataTypes.MACADDR, 'text'],
  ['TSVECTOR', DataTypes.TSVECTOR, 'text'],
  ['HSTORE', DataTypes.HSTORE],
  ['ARRAY', DataTypes.ARRAY(DataTypes.STRING), 'array'],
  ['RANGE', DataTypes.RANGE(DataTypes.INTEGER), 'range'],
  ['GEOMETRY', DataTypes.GEOMETRY, 'geometry'],
  ['GEOGRAPHY', DataTypes.GEOGRAPHY('POINT'), 'geometry'],
]

function attributesOf(dialect: Dialect, types: readonly (readonly [string, DataType, ...unknown[]])[]) {
  const sequelize = new Sequelize({ ...dialectOptions(dialect), logging: false })
  const columns = types.map(([, type], index) => [`c${index}`, { type }])
  const attributes = sequelize.define('Everything', Object.fromEntries(columns), { timestamps: false }).getAttributes()
  return types.map(([name], index) => {
    const attribute = attributes[`c${index}`]
    if (attribute === undefined) throw new Error(`no attribute for ${name}`)
    return attribute
  })
}

for (const dialect of DIALECTS) {
  test(`every type of Sequelize is told on ${dialect}, with the same bounds as everywhere`, (t) => {
    const attributes = attributesOf(dialect, TYPES)
    for (const [index, [name, , expected]] of TYPES.entries()) {
      const attribute = attributes[index]
      t.deepEqual(attribute && valueTypeOf(attribute), expected, name)
    }
  })
}

test('PostgreSQL’s own types are opaque', (t) => {
  const attributes = attributesOf('postgres', ON_POSTGRES)
  for (const [index, [name, , form]] of ON_POSTGRES.entries()) {
    const attribute = attributes[index]
    t.deepEqual(attribute && valueTypeOf(attribute), form === undefined ? json : { ...json, form }, name)
  }
})

test('the host chooses how a decimal stands on the wire', (t) => {
  const small = { type: DataTypes.DECIMAL(10, 2) }
  const large = { type: DataTypes.DECIMAL(30, 2) }
  t.is(valueTypeOf(small, { decimal: 'string' }).jsonType, 'string')
  t.is(valueTypeOf(large, { decimal: 'number' }).jsonType, 'number')
  t.is(valueTypeOf({ type: DataTypes.DECIMAL }, { decimal: 'number' }).jsonType, 'number')
  t.is(valueTypeOf({ type: DataTypes.INTEGER }, { decimal: 'string' }).jsonType, undefined)
})

test('an enumeration may list its values beside the type', (t) => {
  const [attribute] = attributesOf('sqlite', [['ENUM', DataTypes.ENUM('a', 'b')]])
  t.deepEqual(attribute && valueTypeOf(attribute).values, ['a', 'b'])
  t.deepEqual(valueTypeOf({ type: DataTypes.ENUM, values: ['x', 'y'] }).values, ['x', 'y'])
})

test('a compiled type is frozen', (t) => {
  const valueType = valueTypeOf({ type: DataTypes.ENUM('a') })
  t.true(Object.isFrozen(valueType))
  t.true(Object.isFrozen(valueType.values))
})
