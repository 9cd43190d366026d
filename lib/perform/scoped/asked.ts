import type { Changes } from '../../../types/changes.js'
import type { Field } from '../../../types/field.js'
import type { Predicate } from '../../../types/plan.js'
import { chunksOf } from '../../common/chunks.js'
import { ownColumn } from '../../common/columns.js'
import { keysOf } from '../../sequelize/model.js'
import { queryRows, type RawRow } from '../../sequelize/run.js'
import { escapeValue, quote, quoteTable, writeCondition } from '../../sequelize/sql.js'
import type { Scope } from '../scope.js'
import { inlineOperands } from '../statement/operands.js'
import type { Store } from '../store.js'
import { encodeStored } from '../stored.js'
import { limited } from '../transaction.js'
import { WhereWriter } from '../where.js'
import { knownBefore } from './before.js'
import { changeable, foreseeable, readBy } from './foresee.js'
import { type PathPart, pathParts } from './paths.js'

/** A record that will be stored. */
export interface Asked {
  readonly place: number
  readonly scope: Predicate
  readonly values: Changes
  /** The stored record, which has all other values. null for a new record. */
  readonly stored: { readonly identity: Predicate; readonly increments: readonly string[] } | null
}

/** Records that are checked by one statement. */
interface Group {
  readonly scope: Predicate
  /** Attributes with known values, and attributes whose values the request sets. */
  readonly known: ReadonlySet<string>
  readonly given: ReadonlySet<string>
  readonly records: Asked[]
}

/** Maximum number of records per statement. */
const TOGETHER = 100

/** Positions of the records outside the scope. Also records which parts of the condition are met. */
export async function failingAmong(store: Store, all: readonly Asked[]): Promise<readonly number[]> {
  const failing: number[] = []
  for (const group of groupsOf(store, all)) {
    const question = questionOf(store, group)
    const { condition, parts } = question
    if (condition.kind === 'never') failing.push(...group.records.map(({ place }) => place))
    else if (condition.kind !== 'always' || parts.length > 0)
      for (const some of chunksOf(group.records, TOGETHER)) failing.push(...(await unmet(store, question, group, some)))
  }
  return failing.sort((one, other) => one - other)
}

function groupsOf(store: Store, all: readonly Asked[]): readonly Group[] {
  const own = store.resource.fields.filter(({ virtual }) => !virtual).map(({ name }) => name)
  const groups = new Map<string, Group>()
  const scopes = [...new Set(all.map(({ scope }) => scope))]
  for (const record of all) {
    const { scope, values, stored } = record
    const unknown = new Set([...(stored?.increments ?? []), ...newReferences(store, record)])
    const given = own.filter((name) => values.has(name) && !unknown.has(name))
    const known = stored === null ? given : own.filter((name) => !unknown.has(name))
    const name = JSON.stringify([scopes.indexOf(scope), stored !== null, given, known])
    const group = groups.get(name) ?? { scope, known: new Set(known), given: new Set(given), records: [] }
    groups.set(name, group)
    group.records.push(record)
  }
  return [...groups.values()]
}

/** Foreign keys that refer to records which the same request creates. */
function newReferences(store: Store, { scope, values }: Asked): readonly string[] {
  const before = knownBefore(store)
  if (before === null) return []
  return pathParts(scope).flatMap(({ association }) => {
    const { foreignKey, targetKey } = keysOf(association)
    const value = values.get(foreignKey)
    const field = store.resource.fields.find(({ name }) => name === foreignKey)
    if (field === undefined || value === undefined || value === null) return []
    return before.creates(association.target, targetKey, String(field.decode(value))) ? [foreignKey] : []
  })
}

/** A part of a condition with its foreign key. */
interface Part extends PathPart {
  readonly start: Field
}

interface Question {
  /** Condition that the records must meet. */
  readonly condition: Predicate
  /** Parts of the scope whose results are recorded. */
  readonly parts: readonly Part[]
  /** Attributes in the rows of the query. */
  readonly fields: readonly Field[]
}

function questionOf(store: Store, { scope, known, given, records }: Group): Question {
  const before = knownBefore(store)
  const isStored = records[0]?.stored !== null
  // A stored record already meets the condition under its lock, except for parts that the request changes.
  const open = isStored ? changeable(scope, given) : scope
  const asBefore = (part: Predicate): Predicate => before?.withoutWritten(part, null) ?? part
  const condition = asBefore(foreseeable(open, known))
  const parts =
    before === null
      ? []
      : pathParts(scope).flatMap((part): Part[] => {
          const start = store.resource.fields.find(({ name }) => name === keysOf(part.association).foreignKey)
          const isKnown = foreseeable(part.node, known) === part.node
          return start === undefined || !isKnown ? [] : [{ ...part, start }]
        })
  const read = new Set([...readBy(condition), ...parts.map(({ start }) => start.name)])
  return { condition, parts, fields: store.resource.fields.filter(({ name }) => read.has(name)) }
}

const ROWS = '_n'
const STORED = '_s'
const PLACE = '_i'
const UNION = '_u'

/**
 * Larger than any number of rows. With a LIMIT, MariaDB does not push comparisons into the UNION's SELECTs, where
 * literals could have different collations. The UNION's column has the collation of the table's column.
 */
const MOST = 1_000_000

/** Runs the query. The records are rows of literal values with the types of their columns. */
async function unmet(store: Store, question: Question, group: Group, records: readonly Asked[]): Promise<number[]> {
  const { model, dialect, sequelize, transaction } = store
  const { condition, parts } = question
  const before = knownBefore(store)
  const scope: Scope = { model, alias: ROWS, joins: false }
  const writer = new WhereWriter(dialect, inlineOperands(model))
  const textOf = (part: Predicate): string => writeCondition(model, writer.where(part, scope), ROWS)
  const isTrue = ({ node, isRequired }: Part): string => {
    const asBefore = before?.withoutWritten(node, null) ?? node
    return isRequired ? '1' : `CASE WHEN ${textOf(asBefore)} THEN 1 ELSE 0 END`
  }
  const columns = parts.flatMap((part, index) => [
    `${writer.read(ownColumn(part.start), scope)} AS ${quote(model, `_v${index}`)}`,
    `${isTrue(part)} AS ${quote(model, `_m${index}`)}`,
  ])
  const place = `${quote(model, ROWS)}.${quote(model, PLACE)} AS ${quote(model, PLACE)}`
  const met = condition.kind === 'always' ? '' : ` WHERE ${textOf(condition)}`
  const from = rowsText(store, question, group, records)
  const sql = `SELECT ${[place, ...columns].join(', ')} FROM (${from}) AS ${quote(model, ROWS)}${met}`
  const found = await limited(store, () => queryRows(sequelize, { sql, transaction, writes: true }))
  for (const row of found) note(store, parts, row)
  const admitted = new Set(found.map((row) => Number(row[PLACE])))
  return records.map(({ place: at }) => at).filter((at) => !admitted.has(at))
}

function note(store: Store, parts: readonly Part[], row: RawRow): void {
  for (const [index, { node, start }] of parts.entries()) {
    const value = row[`_v${index}`]
    if (value === null || value === undefined) continue
    knownBefore(store)?.note(node, String(start.decode(value)), Number(row[`_m${index}`]) === 1)
  }
}

/** The SELECT of the records as they would be stored. */
function rowsText(store: Store, { fields }: Question, { given }: Group, records: readonly Asked[]): string {
  const { model, dialect } = store
  const columns = fields.map(({ column }) => quote(model, column))
  const typed = `SELECT ${[...columns, `0 AS ${quote(model, PLACE)}`].join(', ')} FROM ${quoteTable(model)} WHERE 1 = 0`
  const stored: Scope = { model, alias: STORED, joins: false }
  const rows = records.map(({ place, values, stored: record }) => {
    const sourceOf = (field: Field): string =>
      record === null || given.has(field.name)
        ? sqlValue(store, field, values)
        : `${quote(model, STORED)}.${quote(model, field.column)}`
    const row = `SELECT ${[...fields.map(sourceOf), place].join(', ')}`
    if (record === null) return row
    const writer = new WhereWriter(dialect, inlineOperands(model))
    const where = writeCondition(model, writer.where(record.identity, stored), STORED)
    return `${row} FROM ${quoteTable(model)} AS ${quote(model, STORED)} WHERE ${where}`
  })
  return `SELECT * FROM (${[typed, ...rows].join(' UNION ALL ')}) AS ${quote(model, UNION)} LIMIT ${MOST}`
}

const NUMBER = /^-?\d+(\.\d+)?$/

/** The SQL of a value with the type of its column. */
function sqlValue(store: Store, field: Field, values: Changes): string {
  const stored = encodeStored(store, field, values.get(field.name))
  if (stored === null) return 'NULL'
  const { type } = field.valueType
  const isNumber = type === 'integer' || type === 'bigint' || type === 'decimal' || type === 'float'
  if (isNumber && NUMBER.test(String(stored))) return String(stored)
  return store.dialect.literal(escapeValue(store.model, stored), type)
}
