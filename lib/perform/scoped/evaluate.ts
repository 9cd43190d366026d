// Evaluates many conditions for several records with few statements. Conditions that differ only in values are joined
// with a table of these values.

import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Predicate } from '../../../types/plan.js'
import type { NamedCondition } from '../../../types/rooms.js'
import { chunksOf } from '../../common/chunks.js'
import { keyColumns, keyName } from '../../common/keys.js'
import { conversionOf } from '../../sequelize/columnTypes.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { type QueryRun, queryRows, type RawRow } from '../../sequelize/run.js'
import {
  escapeValue,
  literal,
  quote,
  quoteTable,
  type Selected,
  writeCondition,
  writeCrossed,
  writeSelect,
} from '../../sequelize/sql.js'
import { inlineOperands, type Operands } from '../statement/operands.js'
import { aliasOf } from '../statement/row.js'
import { columnsKnown, type Store } from '../store.js'
import { type Scope, WhereWriter } from '../where.js'

/** Aliases of the records, of the table of values, and of its row number. */
const RECORD = '_r'
const VALUES = '_v'
const NUMBER = '_n'

/** Minimum number of equal conditions for a table of values. */
const MANY = 4

/** Maximum number of conditions, and of characters, in a statement without a table of values. */
const TOGETHER = 100
const LONGEST = 200_000

/** Names of the conditions that each record meets, by key text. Records that the model hides meet none. */
export async function conditionsMet(
  store: Store,
  where: Predicate,
  conditions: readonly NamedCondition[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const met = new Map<string, Set<string>>()
  if (conditions.length === 0) return met
  const reading = columnsKnown(store)
  if (reading !== null) await reading
  const { sequelize, transaction, limit, resource } = store
  const run: Omit<QueryRun, 'sql'> = { transaction, writes: true, ...(transaction === undefined ? { limit } : {}) }
  for (const { sql, namesIn } of statementsFor(store, where, conditions)) {
    for (const row of await queryRows(sequelize, { ...run, sql })) {
      const values = resource.keys.map((_, index) => row[aliasOf(index)])
      const key = keyName(resource.keys, values)
      const names = met.get(key) ?? new Set<string>()
      met.set(key, names)
      for (const name of namesIn(row)) names.add(name)
    }
  }
  return met
}

interface Evaluation {
  readonly sql: string
  /** Names of the conditions that are true in a row. */
  readonly namesIn: (row: RawRow) => readonly string[]
}

function statementsFor(store: Store, where: Predicate, conditions: readonly NamedCondition[]): readonly Evaluation[] {
  const evaluations: Evaluation[] = []
  const others: NamedCondition[] = []
  for (const shape of shapesOf(store, conditions)) {
    const [first] = shape
    if (first === undefined || shape.length < MANY || first.values.length === 0) {
      others.push(...shape.map(({ named }) => named))
    } else for (const some of chunksOf(shape)) evaluations.push(besideValues(store, where, some, first))
  }
  const { model, dialect } = store
  const texts = others.map(({ name, condition }): readonly [string, string] => {
    return [name, textOf(new WhereWriter(dialect, inlineOperands(model)), condition, rootOf(store))]
  })
  return [...evaluations, ...groupsOf(texts).map((some) => byColumns(store, where, some))]
}

function rootOf({ model }: Store): Scope {
  return { model, alias: RECORD, joins: false }
}

function textOf(writer: WhereWriter, condition: Predicate, root: Scope): string {
  return `(${writeCondition(root.model, writer.where(condition, root), root.alias)})`
}

/** A condition whose SQL has columns of the table of values in place of its values. */
interface Shaped {
  readonly named: NamedCondition
  readonly text: string
  readonly values: readonly Placed[]
}

/** A value with the field that it is compared with. */
interface Placed {
  readonly value: string | number
  readonly model: ModelStatic<Model>
  readonly field: Field
}

/** Groups the conditions by their SQL. */
function shapesOf(store: Store, conditions: readonly NamedCondition[]): readonly (readonly Shaped[])[] {
  const shapes = new Map<string, Shaped[]>()
  for (const named of conditions) {
    const operands = new PlacedOperands(store)
    const text = textOf(new WhereWriter(store.dialect, operands), named.condition, rootOf(store))
    const shaped: Shaped = { named, text, values: operands.placed }
    const known = shapes.get(text)
    if (known === undefined) shapes.set(text, [shaped])
    else known.push(shaped)
  }
  return [...shapes.values()]
}

/** Writes values as columns of the table of values, if they compare like literals. */
class PlacedOperands implements Operands {
  readonly placed: Placed[] = []
  readonly #dialect: Dialect
  readonly #inline: Operands

  constructor({ dialect, model }: Store) {
    this.#dialect = dialect
    this.#inline = inlineOperands(model)
  }

  sql = (value: unknown): string => this.#inline.sql(value)

  compared = (value: unknown, model: ModelStatic<Model>, field: Field): string => {
    if (!isPlaceable(value, field) || conversionOf(this.#dialect, model, field) !== null) return this.sql(value)
    this.placed.push({ value, model, field })
    return `${quote(model, VALUES)}.${quote(model, aliasOf(this.placed.length - 1))}`
  }
}

const ASCII = /^[\x20-\x7e]*$/
const DIGITS = /^-?\d{1,19}$/

/** Whether a value in a column of the field's type compares like a literal. */
function isPlaceable(value: unknown, { derived, stored, valueType }: Field): value is string | number {
  if (derived !== undefined || stored !== undefined) return false
  const { type, padded, binary } = valueType
  if (type === 'integer' || type === 'bigint') return DIGITS.test(String(value)) && typeof value !== 'boolean'
  if (type !== 'uuid' && type !== 'string') return false
  return typeof value === 'string' && ASCII.test(value) && padded !== true && binary !== true
}

function keysOf({ resource: { keys } }: Store, writer: WhereWriter, root: Scope): Selected {
  return keyColumns(keys).map((column, index) => [literal(writer.read(column, root)), aliasOf(index)])
}

/** Whether the statement locks: without locks a transaction would read its snapshot, not the latest commits. */
function locks({ transaction, dialect }: Store): { readonly lock?: true } {
  return transaction !== undefined && dialect.readsSnapshots ? { lock: true } : {}
}

function besideValues(store: Store, where: Predicate, shape: readonly Shaped[], { text, values }: Shaped): Evaluation {
  const { model, dialect } = store
  const root = rootOf(store)
  const writer = new WhereWriter(dialect, inlineOperands(model))
  // The first row only sets the column types.
  const types = values.map(({ model: owner, field }) => {
    const column = `SELECT ${quote(owner, field.column)} FROM ${quoteTable(owner)} WHERE 1 = 0`
    return `(${column})`
  })
  const rows = shape.map(({ values: own }, index) => {
    return [...own.map(({ value, field }) => sqlOf(model, value, field)), String(index)]
  })
  const names = [...values.map((_, index) => aliasOf(index)), NUMBER].map((name) => quote(model, name))
  const from = `${dialect.rows(names, [[...types, '-1'], ...rows])} AS ${quote(model, VALUES)}`
  const number = `${quote(model, VALUES)}.${quote(model, NUMBER)}`
  const attributes: Selected = [...keysOf(store, writer, root), [literal(number), NUMBER]]
  const options = { attributes, where: writer.where(where, root), tableAs: RECORD, ...locks(store) }
  const sql = writeCrossed(model, options, { from, condition: `${number} >= 0 AND ${text}` })
  return {
    sql,
    namesIn: (row) => {
      const shaped = shape[Number(row[NUMBER])]
      return shaped === undefined ? [] : [shaped.named.name]
    },
  }
}

function sqlOf(model: ModelStatic<Model>, value: string | number, { valueType: { type } }: Field): string {
  return type === 'integer' || type === 'bigint' ? String(value) : escapeValue(model, value)
}

type Named = readonly [name: string, text: string]

function byColumns(store: Store, where: Predicate, some: readonly Named[]): Evaluation {
  const { model, dialect } = store
  const root = rootOf(store)
  const writer = new WhereWriter(dialect, inlineOperands(model))
  const told: Selected = some.map(([, text], index) => [literal(`CASE WHEN ${text} THEN 1 ELSE 0 END`), `_${index}`])
  const attributes: Selected = [...keysOf(store, writer, root), ...told]
  const sql = writeSelect(model, { attributes, where: writer.where(where, root), tableAs: RECORD, ...locks(store) })
  return { sql, namesIn: (row) => some.flatMap(([name], index) => (Number(row[`_${index}`]) === 1 ? [name] : [])) }
}

/** Splits conditions into groups of limited size. A long condition is a group of its own. */
function groupsOf(all: readonly Named[]): readonly (readonly Named[])[] {
  const groups: Named[][] = []
  let length = 0
  for (const each of all) {
    const last = groups.at(-1)
    length += each[1].length
    if (last !== undefined && last.length < TOGETHER && length <= LONGEST) last.push(each)
    else {
      groups.push([each])
      length = each[1].length
    }
  }
  return groups
}
