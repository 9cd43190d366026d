import type { Column, Database } from './schema.js'
import { toArrayLiteral, toLiteral } from './text.js'

/** A Sequelize type as source code, and the TypeScript type of its values. */
export interface ColumnType {
  readonly source: string
  readonly tsType: string
  readonly kind: 'text' | 'number' | 'boolean' | 'date' | 'other'
}

interface SqlType {
  readonly name: string
  readonly numbers: readonly string[]
  readonly isUnsigned: boolean
  readonly isArray: boolean
}

/**
 * Parses an SQL type into its name, numbers and flags: `character varying(50)` has a number, `bigint unsigned` a flag.
 */
function parseSqlType(type: string): SqlType {
  const [, numbers = ''] = /\(([\d ,]*)\)/.exec(type) ?? []
  const name = type
    .replace(/\(.*?\)/g, ' ')
    .replace(/\b(?:unsigned|zerofill|signed)\b/g, ' ')
    .replaceAll('[]', ' ')
    .replace(/ +/g, ' ')
    .trim()
  const isArray = type.endsWith('[]')
  return {
    name,
    numbers: numbers
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean),
    isUnsigned: /\bunsigned\b/.test(type),
    isArray,
  }
}

type CreateType = (sql: SqlType) => ColumnType

function createType(name: string, typed: string, kind: ColumnType['kind'] = 'other'): ColumnType {
  return { source: `DataTypes.${name}`, tsType: typed, kind }
}

function sizedType(name: string, typed: string, kind: ColumnType['kind']): CreateType {
  return ({ numbers }) => createType(numbers.length === 0 ? name : `${name}(${numbers.join(', ')})`, typed, kind)
}

function integerType(name: string, typed = 'number'): CreateType {
  return ({ isUnsigned }) => createType(isUnsigned ? `${name}.UNSIGNED` : name, typed, 'number')
}

function textType(size?: string): CreateType {
  return () => createType(size === undefined ? 'TEXT' : `TEXT(${toLiteral(size)})`, 'string', 'text')
}

/** An SQL type without a length is unlimited. Sequelize's STRING would limit it to 255 characters. */
function varyingType(sql: SqlType): ColumnType {
  return (sql.numbers.length === 0 ? textType() : sizedType('STRING', 'string', 'text'))(sql)
}

function dateType({ numbers }: SqlType): ColumnType {
  return createType(numbers.length === 0 ? 'DATE' : `DATE(${numbers.join(', ')})`, 'Date', 'date')
}

function plainType(name: string, typed: string, kind?: ColumnType['kind']): CreateType {
  return () => createType(name, typed, kind)
}

/** Types that all databases share. */
const COMMON_TYPES: Readonly<Record<string, CreateType>> = {
  ...nameAll(['char', 'character', 'nchar', 'native character'], sizedType('CHAR', 'string', 'text')),
  ...nameAll(['varchar', 'character varying', 'nvarchar', 'varying character', 'bpchar'], varyingType),
  ...nameAll(['text', 'clob', 'ntext', 'name'], textType()),
  ...nameAll(['int', 'integer', 'int4', 'serial'], integerType('INTEGER')),
  ...nameAll(['smallint', 'int2', 'year', 'smallserial'], integerType('SMALLINT')),
  ...nameAll(['bigint', 'int8', 'bigserial'], integerType('BIGINT', 'string')),
  ...nameAll(['decimal', 'numeric', 'dec', 'money'], sizedType('DECIMAL', 'string', 'number')),
  ...nameAll(['real', 'float4'], plainType('REAL', 'number', 'number')),
  ...nameAll(['double', 'double precision', 'float8'], plainType('DOUBLE', 'number', 'number')),
  ...nameAll(['boolean', 'bool'], plainType('BOOLEAN', 'boolean', 'boolean')),
  ...nameAll(
    ['timestamp', 'timestamp with time zone', 'timestamp without time zone', 'timestamptz', 'datetime'],
    dateType,
  ),
  date: plainType('DATEONLY', 'string', 'date'),
  ...nameAll(['time', 'time without time zone'], plainType('TIME', 'string')),
  uuid: plainType('UUID', 'string'),
  json: plainType('JSON', 'unknown'),
  ...nameAll(['blob', 'bytea', 'binary', 'varbinary'], plainType('BLOB', 'Buffer')),
}

function nameAll(all: readonly string[], make: CreateType): Readonly<Record<string, CreateType>> {
  return Object.fromEntries(all.map((name) => [name, make]))
}

const DATABASE_TYPES: Readonly<Record<'sqlite' | 'postgres' | 'mysql', Readonly<Record<string, CreateType>>>> = {
  sqlite: {
    // Sequelize stores booleans in columns of type `tinyint(1)`.
    tinyint: ({ numbers }) =>
      numbers[0] === '1' ? createType('BOOLEAN', 'boolean', 'boolean') : createType('TINYINT', 'number', 'number'),
    mediumint: integerType('INTEGER'),
    float: plainType('DOUBLE', 'number', 'number'),
    real: plainType('DOUBLE', 'number', 'number'),
    money: plainType('DECIMAL', 'string', 'number'),
  },
  postgres: {
    citext: plainType('CITEXT', 'string', 'text'),
    jsonb: plainType('JSONB', 'unknown'),
    inet: plainType('INET', 'string'),
    cidr: plainType('CIDR', 'string'),
    macaddr: plainType('MACADDR', 'string'),
    // No Sequelize type matches the driver's values for `money`.
    money: plainType('STRING', 'string'),
  },
  mysql: {
    tinyint: ({ numbers, isUnsigned }) =>
      numbers[0] === '1'
        ? createType('BOOLEAN', 'boolean', 'boolean')
        : integerType('TINYINT')({ ...UNNAMED_TYPE, isUnsigned }),
    mediumint: integerType('MEDIUMINT'),
    float: plainType('FLOAT', 'number', 'number'),
    tinytext: textType('tiny'),
    mediumtext: textType('medium'),
    longtext: textType('long'),
    tinyblob: plainType(`BLOB('tiny')`, 'Buffer'),
    mediumblob: plainType(`BLOB('medium')`, 'Buffer'),
    longblob: plainType(`BLOB('long')`, 'Buffer'),
  },
}

const UNNAMED_TYPE: SqlType = { name: '', numbers: [], isUnsigned: false, isArray: false }

/** Finds the Sequelize type of a column. Returns null if Sequelize has no suitable type. */
export function findColumnType({ type, values }: Column, database: Database): ColumnType | null {
  const sql = parseSqlType(type)
  if (values !== null) {
    // Sequelize casts an array of an enumeration to a type name that it derives from the table. The database may have
    // no type of that name.
    if (sql.isArray) return null
    return {
      source: `DataTypes.ENUM(...${toArrayLiteral(values)})`,
      tsType: values.map(toLiteral).join(' | '),
      kind: 'text',
    }
  }
  const made = { ...COMMON_TYPES, ...DATABASE_TYPES[database === 'mariadb' ? 'mysql' : database] }
  const make = Object.hasOwn(made, sql.name) ? made[sql.name] : undefined
  const found = make?.(sql) ?? (database === 'sqlite' ? affinityType(sql.name) : null)
  if (found === null || !sql.isArray) return found
  return database === 'postgres'
    ? { source: `DataTypes.ARRAY(${found.source})`, tsType: `${found.tsType}[]`, kind: 'other' }
    : null
}

/** The type of a column in SQLite. SQLite allows any type name and derives the affinity from parts of the name. */
function affinityType(name: string): ColumnType {
  if (name.includes('int')) return createType('INTEGER', 'number', 'number')
  if (/char|clob|text/.test(name)) return createType('TEXT', 'string', 'text')
  if (name.includes('blob')) return createType('BLOB', 'Buffer')
  if (/real|floa|doub/.test(name)) return createType('DOUBLE', 'number', 'number')
  return createType('TEXT', 'string', 'text')
}
