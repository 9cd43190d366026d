// Rows whose values are more precise than JSON shows, with nulls and repeated values. Also data for conditions on the
// rows.

import { DataTypes, type ModelAttributes, type Sequelize } from 'sequelize'
import { databaseName } from './database.js'
import { pick, type Random } from './differential/random.js'
import { type Column, column, RANKS, type Relation, type Table, type Value } from './differential/schema.js'
import type { Row, Tables } from './differential/world.js'

const TEXTS = [
  '',
  'a',
  'A',
  'b',
  'B ',
  ' b',
  'ä',
  'Z',
  'z',
  'ß',
  '漢',
  "O'Hara",
  'back\\slash',
  '50%',
  '10',
  '9',
] as const
const FLOATS = [0.1, 0.3, -2.5, 1e-7, 123456.789, 0, 16777216, 3.5e9] as const
const BIGS = [9007199254740993n, 9007199254740992n, -9223372036854775808n, 9223372036854775807n, 5n] as const
const MOMENTS = [Date.parse('2020-01-01T00:00:00.123Z'), Date.parse('2026-05-05T05:05:05.005Z')] as const
const UUIDS = ['00000000-0000-4000-8000-000000000001', 'ffffffff-ffff-4fff-bfff-ffffffffffff'] as const

const single = databaseName === 'postgres' ? DataTypes.REAL : DataTypes.FLOAT

/** Possible values of each column. */
const POSSIBLE_VALUES: readonly (readonly [Column, readonly [Value, ...Value[]]])[] = [
  [column('name', 'text', DataTypes.STRING), TEXTS],
  [column('code', 'text', DataTypes.STRING(40), { nullable: false }), TEXTS],
  [column('level', 'integer', DataTypes.INTEGER), [1n, 2n, 3n, 2147483647n]],
  [column('rank', 'integer', DataTypes.INTEGER, { nullable: false }), [0n, 1n, 2n, 3n]],
  [column('big', 'integer', DataTypes.BIGINT, { bounds: [-(2n ** 63n), 2n ** 63n - 1n] }), BIGS],
  [column('price', 'decimal', DataTypes.DECIMAL(12, 2), { places: 2 }), ['0.01', '-0.01', '99999999.99', '1.10']],
  [column('ratio', 'float', single, { short: true }), FLOATS],
  [column('wide', 'float', DataTypes.DOUBLE), FLOATS],
  [column('active', 'boolean', DataTypes.BOOLEAN), [true, false]],
  [column('at', 'datetime', DataTypes.DATE(6)), MOMENTS],
  [column('day', 'date', DataTypes.DATEONLY), ['1999-12-31', '2020-02-29', '2026-01-01']],
  [column('time', 'time', DataTypes.TIME), ['00:00:00', '09:30:00', '23:59:59']],
  [column('kind', 'enum', DataTypes.ENUM(...RANKS)), RANKS],
  [column('tag', 'uuid', DataTypes.UUID), UUIDS],
]

export const SORTS: readonly string[] = POSSIBLE_VALUES.map(([{ name }]) => name)

export function attributes(): ModelAttributes {
  return Object.fromEntries(POSSIBLE_VALUES.map(([{ name, type, nullable }]) => [name, { type, allowNull: nullable }]))
}

/** Generates a row. Every fourth value of a nullable column is null. `teamId` is an id of `TEAMS`. */
export function preciseRow(random: Random): Row {
  const values = new Map<string, Value | null>()
  for (const [{ name, nullable }, choices] of POSSIBLE_VALUES) {
    values.set(name, nullable && random() < 0.25 ? null : pick(random, choices))
  }
  values.set('teamId', random() < 0.25 ? null : pick(random, [1n, 2n, 3n]))
  return { values, deleted: false, related: new Map() }
}

/** Values of a row as attributes of a model. */
export function recordOf({ values }: Row): Record<string, unknown> {
  const inModel = (name: string, value: Value | null): unknown =>
    name === 'at' && value !== null ? new Date(Number(value)) : typeof value === 'bigint' ? String(value) : value
  return Object.fromEntries([...values].map(([name, value]) => [name, inModel(name, value)]))
}

export const TEAMS = [
  { name: 'Red', size: 3 },
  { name: 'Blue', size: null },
  { name: null, size: 3 },
] as const

const key = column('id', 'integer', DataTypes.INTEGER, { nullable: false })
const plain = { size: 0, key, softDelete: false, hooked: false }

const team: Relation = { name: 'team', to: 'Team', many: false, optional: true }
const rows: Relation = { name: 'rows', to: 'Row', many: true, optional: true }
const own = [key, ...POSSIBLE_VALUES.map(([possible]) => possible), column('teamId', 'integer', DataTypes.INTEGER)]

export const ROWS: Table = { ...plain, name: 'Row', path: '/rows', columns: own, relations: [team] }
export const HOOKED: Table = {
  ...plain,
  name: 'Hooked',
  path: '/hooked',
  columns: own,
  relations: [team],
  hooked: true,
}
const TEAM: Table = {
  ...plain,
  name: 'Team',
  path: '/teams',
  columns: [key, column('name', 'text', DataTypes.STRING), column('size', 'integer', DataTypes.INTEGER)],
  relations: [rows],
}

/** Data from which conditions on the rows are generated. */
export function tablesOf(known: readonly Row[]): Tables {
  const teams = TEAMS.map(({ name, size }, index): Row => {
    const values = new Map<string, Value | null>([
      ['id', BigInt(index + 1)],
      ['name', name],
      ['size', size === null ? null : BigInt(size)],
    ])
    return { values, deleted: false, related: new Map() }
  })
  const all = (name: string): readonly Row[] => (name === 'Team' ? teams : known)
  const table = (name: string): Table => {
    const found = [ROWS, HOOKED, TEAM].find((each) => each.name === name)
    if (found === undefined) throw new RangeError(`there is no table ${name}`)
    return found
  }
  return { table, all, rows: all }
}

/** Adds microseconds to stored instants, because other programs may store microseconds. */
export async function addMicroseconds(sequelize: Sequelize, table: string): Promise<void> {
  const added =
    databaseName === 'postgres' ? `"at" + "id" % 7 * interval '1 microsecond'` : 'at + INTERVAL id % 7 MICROSECOND'
  const quoted = databaseName === 'postgres' ? [`"${table}"`, '"at"'] : [table, 'at']
  if (databaseName !== 'sqlite') await sequelize.query(`UPDATE ${quoted[0]} SET ${quoted[1]} = ${added}`)
  else await sequelize.query(`UPDATE ${table} SET at = replace(at, ' +00:00', (id % 7) || ' +00:00')`)
}
