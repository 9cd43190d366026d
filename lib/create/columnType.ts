import type { Column, Database } from './schema.js'
import { literal, literals } from './text.js'

/** A Sequelize type as source code, and the TypeScript type of its values. */
export interface ColumnType {
  readonly source: string
  readonly typed: string
  readonly kind: 'text' | 'number' | 'boolean' | 'date' | 'other'
}

interface Sql {
  readonly name: string
  readonly numbers: readonly string[]
  readonly isUnsigned: boolean
  readonly isArray: boolean
}

/** Parses an SQL type: `character varying(50)` has a name and a number, `bigint unsigned` a name and a flag. */
function sqlOf(type: string): Sql {
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

type Make = (sql: Sql) => ColumnType

function of(name: string, typed: string, kind: ColumnType['kind'] = 'other'): ColumnType {
  return { source: `DataTypes.${name}`, typed, kind }
}

function sized(name: string, typed: string, kind: ColumnType['kind']): Make {
  return ({ numbers }) => of(numbers.length === 0 ? name : `${name}(${numbers.join(', ')})`, typed, kind)
}

function integer(name: string, typed = 'number'): Make {
  return ({ isUnsigned }) => of(isUnsigned ? `${name}.UNSIGNED` : name, typed, 'number')
}

function text(size?: string): Make {
  return () => of(size === undefined ? 'TEXT' : `TEXT(${literal(size)})`, 'string', 'text')
}

/** Without a length the SQL type is unlimited, but Sequelize's STRING has 255 characters. */
function varying(sql: Sql): ColumnType {
  return (sql.numbers.length === 0 ? text() : sized('STRING', 'string', 'text'))(sql)
}

function date({ numbers }: Sql): ColumnType {
  return of(numbers.length === 0 ? 'DATE' : `DATE(${numbers.join(', ')})`, 'Date', 'date')
}

function plain(name: string, typed: string, kind?: ColumnType['kind']): Make {
  return () => of(name, typed, kind)
}

/** Types that all databases share. */
const COMMON: Readonly<Record<string, Make>> = {
  ...names(['char', 'character', 'nchar', 'native character'], sized('CHAR', 'string', 'text')),
  ...names(['varchar', 'character varying', 'nvarchar', 'varying character', 'bpchar'], varying),
  ...names(['text', 'clob', 'ntext', 'name'], text()),
  ...names(['int', 'integer', 'int4', 'serial'], integer('INTEGER')),
  ...names(['smallint', 'int2', 'year', 'smallserial'], integer('SMALLINT')),
  ...names(['bigint', 'int8', 'bigserial'], integer('BIGINT', 'string')),
  ...names(['decimal', 'numeric', 'dec', 'money'], sized('DECIMAL', 'string', 'number')),
  ...names(['real', 'float4'], plain('REAL', 'number', 'number')),
  ...names(['double', 'double precision', 'float8'], plain('DOUBLE', 'number', 'number')),
  ...names(['boolean', 'bool'], plain('BOOLEAN', 'boolean', 'boolean')),
  ...names(['timestamp', 'timestamp with time zone', 'timestamp without time zone', 'timestamptz', 'datetime'], date),
  date: plain('DATEONLY', 'string', 'date'),
  ...names(['time', 'time without time zone'], plain('TIME', 'string')),
  uuid: plain('UUID', 'string'),
  json: plain('JSON', 'unknown'),
  ...names(['blob', 'bytea', 'binary', 'varbinary'], plain('BLOB', 'Buffer')),
}

function names(all: readonly string[], make: Make): Readonly<Record<string, Make>> {
  return Object.fromEntries(all.map((name) => [name, make]))
}

const OWN: Readonly<Record<'sqlite' | 'postgres' | 'mysql', Readonly<Record<string, Make>>>> = {
  sqlite: {
    // Sequelize stores booleans in columns of this type.
    tinyint: ({ numbers }) =>
      numbers[0] === '1' ? of('BOOLEAN', 'boolean', 'boolean') : of('TINYINT', 'number', 'number'),
    mediumint: integer('INTEGER'),
    float: plain('DOUBLE', 'number', 'number'),
    real: plain('DOUBLE', 'number', 'number'),
    money: plain('DECIMAL', 'string', 'number'),
  },
  postgres: {
    citext: plain('CITEXT', 'string', 'text'),
    jsonb: plain('JSONB', 'unknown'),
    inet: plain('INET', 'string'),
    cidr: plain('CIDR', 'string'),
    macaddr: plain('MACADDR', 'string'),
    // No Sequelize type matches the driver's values for this type.
    money: plain('STRING', 'string'),
  },
  mysql: {
    tinyint: ({ numbers, isUnsigned }) =>
      numbers[0] === '1' ? of('BOOLEAN', 'boolean', 'boolean') : integer('TINYINT')({ ...NONE, isUnsigned }),
    mediumint: integer('MEDIUMINT'),
    float: plain('FLOAT', 'number', 'number'),
    tinytext: text('tiny'),
    mediumtext: text('medium'),
    longtext: text('long'),
    tinyblob: plain(`BLOB('tiny')`, 'Buffer'),
    mediumblob: plain(`BLOB('medium')`, 'Buffer'),
    longblob: plain(`BLOB('long')`, 'Buffer'),
  },
}

const NONE: Sql = { name: '', numbers: [], isUnsigned: false, isArray: false }

/** The Sequelize type of a column, or null if there is none. */
export function columnTypeOf({ type, values }: Column, database: Database): ColumnType | null {
  const sql = sqlOf(type)
  if (values !== null) {
    // Sequelize casts an array of an enumeration to a type name that it derives from the table. It may not exist.
    if (sql.isArray) return null
    return { source: `DataTypes.ENUM(...${literals(values)})`, typed: values.map(literal).join(' | '), kind: 'text' }
  }
  const made = { ...COMMON, ...OWN[database === 'mariadb' ? 'mysql' : database] }
  const make = Object.hasOwn(made, sql.name) ? made[sql.name] : undefined
  const found = make?.(sql) ?? (database === 'sqlite' ? byAffinity(sql.name) : null)
  if (found === null || !sql.isArray) return found
  return database === 'postgres'
    ? { source: `DataTypes.ARRAY(${found.source})`, typed: `${found.typed}[]`, kind: 'other' }
    : null
}

/** SQLite allows any type name and derives the affinity from parts of the name. */
function byAffinity(name: string): ColumnType {
  if (name.includes('int')) return of('INTEGER', 'number', 'number')
  if (/char|clob|text/.test(name)) return of('TEXT', 'string', 'text')
  if (name.includes('blob')) return of('BLOB', 'Buffer')
  if (/real|floa|doub/.test(name)) return of('DOUBLE', 'number', 'number')
  return of('TEXT', 'string', 'text')
}
