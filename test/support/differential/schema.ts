import { type DataType, DataTypes } from 'sequelize'

/** Type of a column in the query language. */
export type Kind = 'text' | 'integer' | 'decimal' | 'float' | 'boolean' | 'enum' | 'uuid' | 'datetime' | 'date' | 'time'

/**
 * A stored value. Integers are bigint. Decimals are text with all places. Date-times are milliseconds since the epoch.
 */
export type Value = string | number | bigint | boolean

export interface Column {
  readonly name: string
  readonly kind: Kind
  readonly type: DataType
  readonly nullable: boolean
  /** For decimals: number of digits after the point. `asText`: whether the value is a string in JSON. */
  readonly places: number
  readonly asText: boolean
  /** For integers: minimum and maximum of the column. */
  readonly bounds: readonly [bigint, bigint]
  /** For date-times: whether the column keeps milliseconds. */
  readonly milliseconds: boolean
  /** For floats: whether some database stores the column in four bytes. */
  readonly short: boolean
}

/** Name of a table in this file, or of a table that a test adds. */
export type TableName = string

/** A relation, with its name in paths. */
export interface Relation {
  readonly name: string
  readonly to: TableName
  readonly many: boolean
  /** Whether the relation may be empty, because its foreign key may be null or refer to a deleted record. */
  readonly optional: boolean
}

export interface Table {
  readonly name: TableName
  readonly path: string
  readonly size: number
  readonly key: Column
  /** The key and all other columns in response order. Foreign keys are last. */
  readonly columns: readonly Column[]
  readonly relations: readonly Relation[]
  /** Whether some records are soft-deleted. */
  readonly softDelete: boolean
  /** Whether the model has a find hook. With a find hook, reads use `findAll` and Sequelize's own statements. */
  readonly hooked: boolean
}

/** A foreign key, with the names of the relations at both ends. */
export interface Link {
  readonly from: TableName
  readonly as: string
  readonly to: TableName
  readonly back: string
  readonly key: string
  readonly required: boolean
  /** Whether the relation `back` is a hasOne. */
  readonly unique: boolean
}

const INT: readonly [bigint, bigint] = [-(2n ** 31n), 2n ** 31n - 1n]
const SMALL: readonly [bigint, bigint] = [-(2n ** 15n), 2n ** 15n - 1n]
const BIG: readonly [bigint, bigint] = [-(2n ** 63n), 2n ** 63n - 1n]

/**
 * Values of an enumeration. The values are not in alphabetical order, so that the declared order is visible in sorts. A
 * collation's case folding does not change the order of the values.
 */
export const RANKS = ['New', 'Done', 'On hold, (x)|;', 'Null', 'Archived'] as const

export function column(name: string, kind: Kind, type: DataType, more: Partial<Column> = {}): Column {
  const plain = { nullable: true, places: 0, asText: false, bounds: INT, milliseconds: true, short: false }
  return { ...plain, ...more, name, kind, type }
}

const required = { nullable: false }

/** Columns of every table. Each path therefore ends at columns of every type. */
function ownColumns(): Column[] {
  return [
    column('label', 'text', DataTypes.STRING(120), required),
    column('text', 'text', DataTypes.STRING(120)),
    column('longNote', 'text', DataTypes.TEXT),
    column('whole', 'integer', DataTypes.INTEGER),
    column('small', 'integer', DataTypes.SMALLINT, { ...required, bounds: SMALL }),
    column('bigWhole', 'integer', DataTypes.BIGINT, { bounds: BIG }),
    column('amount', 'decimal', DataTypes.DECIMAL(18, 4), { places: 4, asText: true }),
    column('price', 'decimal', DataTypes.DECIMAL(10, 2), { ...required, places: 2 }),
    column('ratio', 'float', DataTypes.DOUBLE),
    column('single', 'float', DataTypes.FLOAT, { short: true }),
    column('flag', 'boolean', DataTypes.BOOLEAN),
    column('open', 'boolean', DataTypes.BOOLEAN, required),
    column('rank', 'enum', DataTypes.ENUM(...RANKS)),
    column('code', 'uuid', DataTypes.UUID),
    // MySQL stores milliseconds only in columns that declare them.
    column('madeAt', 'datetime', DataTypes.DATE(3)),
    column('moment', 'datetime', DataTypes.DATE, { ...required, milliseconds: false }),
    column('day', 'date', DataTypes.DATEONLY),
    column('clock', 'time', DataTypes.TIME),
  ]
}

export const LINKS: readonly Link[] = [
  link('Store', 'region', 'Region', 'stores', 'regionId'),
  link('Item', 'store', 'Store', 'items', 'storeId'),
  link('Item', 'origin', 'Item', 'copies', 'originId'),
  link('Part', 'item', 'Item', 'parts', 'itemId', { required: true }),
  link('Part', 'maker', 'Store', 'makes', 'makerId'),
  link('Mark', 'part', 'Part', 'marks', 'partId'),
  link('Seal', 'item', 'Item', 'seal', 'itemId', { unique: true }),
]

function link(from: TableName, as: string, to: TableName, back: string, key: string, more: Partial<Link> = {}): Link {
  return { from, as, to, back, key, required: false, unique: false, ...more }
}

/** The many-to-many relation between items and tags. */
export const TAGGED = { from: 'Item', as: 'tags', to: 'Tag', back: 'items' } as const

const DELETED: ReadonlySet<TableName> = new Set(['Store', 'Part'])

const KEYS: Readonly<Partial<Record<TableName, Column>>> = {
  Region: column('id', 'integer', DataTypes.BIGINT, { ...required, bounds: BIG }),
  Tag: column('id', 'uuid', DataTypes.UUID, required),
  Mark: column('id', 'text', DataTypes.STRING(20), required),
}

/** Whether clients choose the keys of a table. The database generates other keys. */
export function choosesKeys(name: TableName): boolean {
  return KEYS[name] !== undefined
}

function keyOf(name: TableName): Column {
  return KEYS[name] ?? column('id', 'integer', DataTypes.INTEGER, required)
}

function relationsOf(name: TableName): Relation[] {
  const relations: Relation[] = []
  for (const { from, as, to, back, required: isRequired, unique } of LINKS) {
    const optional = !isRequired || DELETED.has(to)
    if (from === name) relations.push({ name: as, to, many: false, optional })
    if (to === name) relations.push({ name: back, to: from, many: !unique, optional: true })
  }
  const { from, as, to, back } = TAGGED
  if (from === name) relations.push({ name: as, to, many: true, optional: true })
  if (to === name) relations.push({ name: back, to: from, many: true, optional: true })
  return relations
}

function table(name: TableName, size: number): Table {
  const key = keyOf(name)
  const foreign = LINKS.filter(({ from }) => from === name).map((each) => {
    const { kind, type, bounds } = keyOf(each.to)
    return column(each.key, kind, type, { nullable: !each.required, bounds })
  })
  return {
    name,
    path: `/api/${name.toLowerCase()}s`,
    size,
    key,
    columns: [key, ...ownColumns(), ...foreign],
    relations: relationsOf(name),
    softDelete: DELETED.has(name),
    hooked: name === 'Part' || name === 'Tag',
  }
}

/** Each table refers only to earlier tables. */
export const TABLES: readonly Table[] = [
  table('Region', 12),
  table('Store', 30),
  table('Item', 150),
  table('Part', 180),
  table('Tag', 24),
  table('Mark', 120),
  table('Seal', 80),
]

const byName: ReadonlyMap<TableName, Table> = new Map(TABLES.map((each) => [each.name, each]))

export function tableNamed(name: TableName): Table {
  const found = byName.get(name)
  if (found === undefined) throw new RangeError(`there is no table ${name}`)
  return found
}
