import type { Field, FieldType } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { TextColumn } from '../../../types/textColumn.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import type { RawRow } from '../../sequelize/run.js'
import type { TextRow } from '../../sequelize/texts.js'
import type { Outline, Request } from './outline.js'

const ALIASES: readonly string[] = Array.from({ length: 64 }, (_, index) => `c${index}`)
const KEY_ALIASES: readonly string[] = Array.from({ length: 16 }, (_, index) => `_k${index}`)

/** The alias of the n-th column that a statement reads. */
export function aliasOf(index: number): string {
  return ALIASES[index] ?? `c${index}`
}

/** The alias of the n-th key of the order. */
export function keyAliasOf(index: number): string {
  return KEY_ALIASES[index] ?? `_k${index}`
}

/** Where the values of the order's keys are: among the columns, or -1 for one that is read for itself. */
export function keyPlaces(
  { keys: { isRead } }: Dialect,
  { keys, columns, order }: Pick<Outlined, 'keys' | 'columns' | 'order'>,
): readonly number[] {
  return order.map(({ column }) =>
    keys === 'shared' && isOfRow(column) && isRead(column.field)
      ? columns.findIndex((each) => isOfRow(each) && each.field === column.field)
      : -1,
  )
}

type Outlined = Extract<Request | Outline, { kind: 'select' }>

function isOfRow({ hops, counted }: Outlined['columns'][number]): boolean {
  return hops.length === 0 && counted === undefined
}

/** A row by the aliases of its columns, or as their values in the order in which they are written. */
export type FoundRow = RawRow | TextRow

function isText(row: FoundRow): row is TextRow {
  return Array.isArray(row)
}

/** The values of the columns, with those of the order's keys behind them. */
export function withKeys(row: FoundRow, { length }: readonly unknown[], places: readonly number[]): Row {
  if (isText(row)) {
    let next = length
    return [...row.slice(0, length), ...places.map((place) => row[place < 0 ? next++ : place])]
  }
  const values = new Array<unknown>(length + places.length)
  for (let index = 0; index < length; index++) values[index] = row[aliasOf(index)]
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? -1
    values[length + index] = place < 0 ? row[keyAliasOf(index)] : values[place]
  }
  return values
}

/** A row as the values of the columns, in their order. */
export function valuesOf(row: FoundRow, { length }: readonly unknown[]): Row {
  if (isText(row)) return row.length === length ? row : row.slice(0, length)
  const values = new Array<unknown>(length)
  for (let index = 0; index < length; index++) values[index] = row[aliasOf(index)]
  return values
}

/** What a row of a collection has beside its columns: the key of its owner, and its place among the rows of that owner. */
export const OWNER = '_o'
export const PLACE = '_n'

/** The number of all records, beside each of a page. */
export const TOTAL = '_total'

/** The number of all records that a row of a page has, whose columns are these; undefined for none. */
export function totalIn(row: FoundRow | undefined, { length }: readonly unknown[]): unknown {
  if (row === undefined) return undefined
  return isText(row) ? row[length] : row[TOTAL]
}

/** The key of the owner that a row of a collection has. */
export function ownerIn(row: FoundRow | undefined, { length }: readonly unknown[]): unknown {
  if (row === undefined) return undefined
  return isText(row) ? row[length] : row[OWNER]
}

/** What rows have of which nothing is wanted. */
export const NOTHING = '_'

/** Types of which JSON says without loss what their columns are there to hold. */
const TEXTUAL: ReadonlySet<FieldType> = new Set([
  ...(['integer', 'bigint', 'boolean', 'string', 'enum', 'uuid'] as const),
  ...(['datetime', 'date', 'time', 'json'] as const),
])

/** Types whose columns hold numbers, as which the driver gives them. */
const NUMERIC: ReadonlySet<FieldType> = new Set(['integer', 'boolean', 'json'])

/** The most columns that stand in one text: what a function takes is limited. */
const MOST = 90

/** The columns of rows that one text may say, those of the rows' own first; null where it is not to. */
export function textColumns(dialect: Dialect, outline: Outline): readonly TextColumn[] | null {
  if (dialect.asText === null || (outline.kind !== 'select' && outline.kind !== 'embed')) return null
  const read: { readonly name: string; readonly field: Field | null }[] = outline.columns.map(({ field }, index) => ({
    name: aliasOf(index),
    field,
  }))
  if (outline.kind === 'embed') read.push({ name: OWNER, field: outline.hop.relation.owner })
  else {
    if (outline.total) read.push({ name: TOTAL, field: null })
    if (outline.keys !== 'none') {
      for (const [index, place] of keyPlaces(dialect, outline).entries()) {
        const key = outline.order[index]
        if (place === -1 && key !== undefined) read.push({ name: keyAliasOf(index), field: key.column.field })
      }
    }
    if (read.length === 0) read.push({ name: NOTHING, field: null })
  }
  if (read.length > MOST || !read.every(({ field }) => field === null || isTextual(field))) return null
  return read.map(({ name, field }) => ({ name, isNumber: field === null || NUMERIC.has(field.valueType.type) }))
}

function isTextual({ derived, valueType: { type } }: Field): boolean {
  return derived === undefined && TEXTUAL.has(type)
}
