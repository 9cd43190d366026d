// Evaluates many conditions for several records with few statements. Conditions that differ only in values share one
// SQL text, which is joined with a table of the values.

import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Predicate } from '../../../types/plan.js'
import type { NamedCondition } from '../../../types/rooms.js'
import { splitIntoChunks } from '../../common/chunks.js'
import { getOrCreate } from '../../common/getOrCreate.js'
import { keyColumns, keyText } from '../../common/keys.js'
import { conversionOf } from '../../sequelize/columnTypes.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { type QueryRun, type RawRow, runReadQuery } from '../../sequelize/run.js'
import {
  escapeValue,
  literal,
  quote,
  quoteTable,
  type SelectedExpressions,
  writeCondition,
  writeCrossSelect,
  writeSelect,
} from '../../sequelize/sql.js'
import { createInlineOperands, type Operands } from '../sql/operands.js'
import { columnAlias } from '../sql/row.js'
import { ensureColumnTypes, type StatementContext } from '../store.js'
import type { TableContext } from '../tableContext.js'
import { WhereWriter } from '../where.js'

/** Aliases of the records, of the table of values, and of its row number. */
const RECORD_ALIAS = '_r'
const VALUES_ALIAS = '_v'
const NUMBER_ALIAS = '_n'

/** Minimum number of conditions with equal SQL for which a table of values is used. */
const VALUES_TABLE_MINIMUM = 4

/** Maximum number of conditions, and of characters, in a statement without a table of values. */
const CONDITIONS_PER_STATEMENT = 100
const MAX_STATEMENT_LENGTH = 200_000

/**
 * Returns the names of the conditions that each record meets, by key text. A record that the model hides meets no
 * condition.
 */
export async function evaluateConditions(
  store: StatementContext,
  where: Predicate,
  conditions: readonly NamedCondition[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const met = new Map<string, Set<string>>()
  if (conditions.length === 0) return met
  const reading = ensureColumnTypes(store)
  if (reading !== null) await reading
  const { sequelize, transaction, limit, resource } = store
  const run: Omit<QueryRun, 'sql'> = { transaction, writes: true, ...(transaction === undefined ? { limit } : {}) }
  for (const { sql, readTrueNames } of buildEvaluations(store, where, conditions)) {
    for (const row of await runReadQuery(sequelize, { ...run, sql })) {
      const values = resource.keys.map((_, index) => row[columnAlias(index)])
      const key = keyText(resource.keys, values)
      const names = getOrCreate(met, key, () => new Set())
      for (const name of readTrueNames(row)) names.add(name)
    }
  }
  return met
}

interface Evaluation {
  readonly sql: string
  /** Returns the names of the conditions that are true in a row. */
  readonly readTrueNames: (row: RawRow) => readonly string[]
}

function buildEvaluations(
  store: StatementContext,
  where: Predicate,
  conditions: readonly NamedCondition[],
): readonly Evaluation[] {
  const evaluations: Evaluation[] = []
  const others: NamedCondition[] = []
  for (const shape of groupByShape(store, conditions)) {
    const [first] = shape
    if (first === undefined || shape.length < VALUES_TABLE_MINIMUM || first.values.length === 0) {
      others.push(...shape.map(({ condition }) => condition))
    } else for (const some of splitIntoChunks(shape)) evaluations.push(evaluateByValuesTable(store, where, some, first))
  }
  const { model, dialect } = store
  const texts = others.map(({ name, condition }): readonly [string, string] => {
    return [
      name,
      writeConditionText(new WhereWriter(dialect, createInlineOperands(model)), condition, rootContextOf(store)),
    ]
  })
  return [...evaluations, ...splitTexts(texts).map((some) => evaluateByColumns(store, where, some))]
}

function rootContextOf({ model }: StatementContext): TableContext {
  return { model, alias: RECORD_ALIAS, canJoin: false }
}

function writeConditionText(writer: WhereWriter, condition: Predicate, root: TableContext): string {
  return `(${writeCondition(root.model, writer.writeWhere(condition, root), root.alias)})`
}

/** Condition whose SQL refers to columns of the table of values instead of its values. */
interface ConditionShape {
  readonly condition: NamedCondition
  readonly text: string
  readonly values: readonly PlacedValue[]
}

/** Value, and the field that the value is compared with. */
interface PlacedValue {
  readonly value: string | number
  readonly model: ModelStatic<Model>
  readonly field: Field
}

/** Groups the conditions by their SQL. */
function groupByShape(
  store: StatementContext,
  conditions: readonly NamedCondition[],
): readonly (readonly ConditionShape[])[] {
  const shapes = new Map<string, ConditionShape[]>()
  for (const named of conditions) {
    const operands = new ValuesTableOperands(store)
    const text = writeConditionText(new WhereWriter(store.dialect, operands), named.condition, rootContextOf(store))
    getOrCreate(shapes, text, () => []).push({ condition: named, text, values: operands.placed })
  }
  return [...shapes.values()]
}

/**
 * Writes values as columns of the table of values. Writes a value as a literal if a column would compare differently.
 */
class ValuesTableOperands implements Operands {
  readonly placed: PlacedValue[] = []
  readonly #dialect: Dialect
  readonly #inline: Operands

  constructor({ dialect, model }: StatementContext) {
    this.#dialect = dialect
    this.#inline = createInlineOperands(model)
  }

  write = (value: unknown): string => this.#inline.write(value)

  writeCompared = (value: unknown, model: ModelStatic<Model>, field: Field): string => {
    if (!isPlaceable(value, field) || conversionOf(this.#dialect, model, field) !== null) return this.write(value)
    this.placed.push({ value, model, field })
    return `${quote(model, VALUES_ALIAS)}.${quote(model, columnAlias(this.placed.length - 1))}`
  }
}

const ASCII = /^[\x20-\x7e]*$/
const DIGITS = /^-?\d{1,19}$/

/** Whether comparing with a column that contains the value gives the same result as comparing with a literal. */
function isPlaceable(value: unknown, { derived, stored, valueType }: Field): value is string | number {
  if (derived !== undefined || stored !== undefined) return false
  const { type, padded, binary } = valueType
  if (type === 'integer' || type === 'bigint') return DIGITS.test(String(value)) && typeof value !== 'boolean'
  if (type !== 'uuid' && type !== 'string') return false
  return typeof value === 'string' && ASCII.test(value) && padded !== true && binary !== true
}

function selectKeys(
  { resource: { keys } }: StatementContext,
  writer: WhereWriter,
  root: TableContext,
): SelectedExpressions {
  return keyColumns(keys).map((column, index) => [literal(writer.writeRead(column, root)), columnAlias(index)])
}

/**
 * Requests a lock if the database has snapshots. Without a lock a transaction would read its snapshot instead of the
 * latest commits.
 */
function lockOption({ transaction, dialect }: StatementContext): { readonly lock?: true } {
  return transaction !== undefined && dialect.readsSnapshots ? { lock: true } : {}
}

function evaluateByValuesTable(
  store: StatementContext,
  where: Predicate,
  shape: readonly ConditionShape[],
  { text, values }: ConditionShape,
): Evaluation {
  const { model, dialect } = store
  const root = rootContextOf(store)
  const writer = new WhereWriter(dialect, createInlineOperands(model))
  // The first row has no values and only sets the column types.
  const types = values.map(({ model: valueModel, field }) => {
    const column = `SELECT ${quote(valueModel, field.column)} FROM ${quoteTable(valueModel)} WHERE 1 = 0`
    return `(${column})`
  })
  const rows = shape.map(({ values: own }, index) => {
    return [...own.map(({ value, field }) => writePlacedValue(model, value, field)), String(index)]
  })
  const names = [...values.map((_, index) => columnAlias(index)), NUMBER_ALIAS].map((name) => quote(model, name))
  const from = `${dialect.rowsSubquery(names, [[...types, '-1'], ...rows])} AS ${quote(model, VALUES_ALIAS)}`
  const number = `${quote(model, VALUES_ALIAS)}.${quote(model, NUMBER_ALIAS)}`
  const attributes: SelectedExpressions = [...selectKeys(store, writer, root), [literal(number), NUMBER_ALIAS]]
  const options = { attributes, where: writer.writeWhere(where, root), tableAs: RECORD_ALIAS, ...lockOption(store) }
  const sql = writeCrossSelect(model, options, { from, condition: `${number} >= 0 AND ${text}` })
  return {
    sql,
    readTrueNames: (row) => {
      const shaped = shape[Number(row[NUMBER_ALIAS])]
      return shaped === undefined ? [] : [shaped.condition.name]
    },
  }
}

function writePlacedValue(model: ModelStatic<Model>, value: string | number, { valueType: { type } }: Field): string {
  return type === 'integer' || type === 'bigint' ? String(value) : escapeValue(model, value)
}

type NamedText = readonly [name: string, text: string]

function evaluateByColumns(store: StatementContext, where: Predicate, some: readonly NamedText[]): Evaluation {
  const { model, dialect } = store
  const root = rootContextOf(store)
  const writer = new WhereWriter(dialect, createInlineOperands(model))
  const results: SelectedExpressions = some.map(([, text], index) => [
    literal(`CASE WHEN ${text} THEN 1 ELSE 0 END`),
    `_${index}`,
  ])
  const attributes: SelectedExpressions = [...selectKeys(store, writer, root), ...results]
  const sql = writeSelect(model, {
    attributes,
    where: writer.writeWhere(where, root),
    tableAs: RECORD_ALIAS,
    ...lockOption(store),
  })
  return {
    sql,
    readTrueNames: (row) => some.flatMap(([name], index) => (Number(row[`_${index}`]) === 1 ? [name] : [])),
  }
}

/** Splits conditions into groups of limited size. A long condition forms a separate group. */
function splitTexts(all: readonly NamedText[]): readonly (readonly NamedText[])[] {
  const groups: NamedText[][] = []
  let length = 0
  for (const each of all) {
    const last = groups.at(-1)
    length += each[1].length
    if (last !== undefined && last.length < CONDITIONS_PER_STATEMENT && length <= MAX_STATEMENT_LENGTH) last.push(each)
    else {
      groups.push([each])
      length = each[1].length
    }
  }
  return groups
}
