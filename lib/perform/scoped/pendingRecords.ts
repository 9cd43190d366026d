import type { Changes } from '../../../types/changes.js'
import type { Field } from '../../../types/field.js'
import type { Predicate } from '../../../types/plan.js'
import { splitIntoChunks } from '../../common/chunks.js'
import { ownColumn } from '../../common/columns.js'
import { getOrCreate } from '../../common/getOrCreate.js'
import { associationKeysOf } from '../../sequelize/model.js'
import { type RawRow, runReadQuery } from '../../sequelize/run.js'
import { escapeValue, quote, quoteTable, writeCondition } from '../../sequelize/sql.js'
import { encodeColumn } from '../encodedRows.js'
import { createInlineOperands } from '../sql/operands.js'
import type { StatementContext } from '../store.js'
import type { TableContext } from '../tableContext.js'
import { withWriteTimeout } from '../transaction.js'
import { WhereWriter } from '../where.js'
import { extractChangeable, extractDecidable, findReadAttributes } from './decidableParts.js'
import { findPathParts, type PathPart } from './paths.js'
import { requestHistoryOf } from './requestHistory.js'

/** Record as it will be stored. */
export interface PendingRecord {
  readonly place: number
  readonly scope: Predicate
  readonly values: Changes
  /** The stored record, which provides the values that the request does not set. null for a new record. */
  readonly stored: { readonly identity: Predicate; readonly increments: readonly string[] } | null
}

/** Records that are checked by one statement. */
interface PendingGroup {
  readonly scope: Predicate
  /** Attributes with known values (`known`), and attributes that the request sets (`assigned`). */
  readonly known: ReadonlySet<string>
  readonly assigned: ReadonlySet<string>
  readonly records: PendingRecord[]
}

/** Maximum number of records per statement. */
const RECORDS_PER_STATEMENT = 100

/**
 * Returns the positions of the records outside the scope. Also notes in the request history which parts of the
 * condition are met.
 */
export async function findFailing(store: StatementContext, all: readonly PendingRecord[]): Promise<readonly number[]> {
  const failing: number[] = []
  for (const group of groupPending(store, all)) {
    const question = buildScopeQuery(store, group)
    const { condition, parts } = question
    if (condition.kind === 'never') failing.push(...group.records.map(({ place }) => place))
    else if (condition.kind !== 'always' || parts.length > 0)
      for (const some of splitIntoChunks(group.records, RECORDS_PER_STATEMENT))
        failing.push(...(await queryUnmet(store, question, group, some)))
  }
  return failing.sort((one, other) => one - other)
}

function groupPending(store: StatementContext, all: readonly PendingRecord[]): readonly PendingGroup[] {
  const own = store.resource.fields.filter(({ virtual }) => !virtual).map(({ name }) => name)
  const groups = new Map<string, PendingGroup>()
  const scopes = [...new Set(all.map(({ scope }) => scope))]
  for (const record of all) {
    const { scope, values, stored } = record
    const unknown = new Set([...(stored?.increments ?? []), ...newReferences(store, record)])
    const given = own.filter((name) => values.has(name) && !unknown.has(name))
    const known = stored === null ? given : own.filter((name) => !unknown.has(name))
    const name = JSON.stringify([scopes.indexOf(scope), stored !== null, given, known])
    const createGroup = (): PendingGroup => ({ scope, known: new Set(known), assigned: new Set(given), records: [] })
    getOrCreate(groups, name, createGroup).records.push(record)
  }
  return [...groups.values()]
}

/** Finds the foreign keys that refer to records which this request creates. */
function newReferences(store: StatementContext, { scope, values }: PendingRecord): readonly string[] {
  const before = requestHistoryOf(store)
  if (before === null) return []
  return findPathParts(scope).flatMap(({ association }) => {
    const { foreignKey, targetKey } = associationKeysOf(association)
    const value = values.get(foreignKey)
    const field = store.resource.fields.find(({ name }) => name === foreignKey)
    if (field === undefined || value === undefined || value === null) return []
    return before.isCreating(association.target, targetKey, String(field.decode(value))) ? [foreignKey] : []
  })
}

/** Part of a condition, and the foreign key field that its path starts with. */
interface ConditionPart extends PathPart {
  readonly start: Field
}

interface ScopeQuery {
  /** Condition that the records must meet. */
  readonly condition: Predicate
  /** Parts of the scope whose results are noted in the request history. */
  readonly parts: readonly ConditionPart[]
  /** Attributes in the rows of the query. */
  readonly fields: readonly Field[]
}

function buildScopeQuery(store: StatementContext, { scope, known, assigned, records }: PendingGroup): ScopeQuery {
  const before = requestHistoryOf(store)
  const isStored = records[0]?.stored !== null
  // The locked record already meets the condition before the write. Only parts that the request changes are checked.
  const open = isStored ? extractChangeable(scope, assigned) : scope
  const excludeWritten = (part: Predicate): Predicate => before?.excludeWritten(part, null) ?? part
  const condition = excludeWritten(extractDecidable(open, known))
  const parts =
    before === null
      ? []
      : findPathParts(scope).flatMap((part): ConditionPart[] => {
          const start = store.resource.fields.find(
            ({ name }) => name === associationKeysOf(part.association).foreignKey,
          )
          const isKnown = extractDecidable(part.node, known) === part.node
          return start === undefined || !isKnown ? [] : [{ ...part, start }]
        })
  const read = new Set([...findReadAttributes(condition), ...parts.map(({ start }) => start.name)])
  return { condition, parts, fields: store.resource.fields.filter(({ name }) => read.has(name)) }
}

const ROWS = '_n'
const STORED = '_s'
const PLACE = '_i'
const UNION = '_u'

/**
 * LIMIT that exceeds any number of rows. With a LIMIT, MariaDB does not push comparisons into the SELECTs of a UNION,
 * where literals could have different collations.
 */
const MAX_ROWS = 1_000_000

/**
 * Runs the query and returns the positions of records that do not meet the condition. The records are rows of literals
 * with the types of their columns.
 */
async function queryUnmet(
  store: StatementContext,
  question: ScopeQuery,
  group: PendingGroup,
  records: readonly PendingRecord[],
): Promise<number[]> {
  const { model, dialect, sequelize, transaction } = store
  const { condition, parts } = question
  const before = requestHistoryOf(store)
  const scope: TableContext = { model, alias: ROWS, canJoin: false }
  const writer = new WhereWriter(dialect, createInlineOperands(model))
  const conditionText = (part: Predicate): string => writeCondition(model, writer.writeWhere(part, scope), ROWS)
  const truthExpression = ({ node, isRequired }: ConditionPart): string => {
    const asBefore = before?.excludeWritten(node, null) ?? node
    return isRequired ? '1' : `CASE WHEN ${conditionText(asBefore)} THEN 1 ELSE 0 END`
  }
  const columns = parts.flatMap((part, index) => [
    `${writer.writeRead(ownColumn(part.start), scope)} AS ${quote(model, `_v${index}`)}`,
    `${truthExpression(part)} AS ${quote(model, `_m${index}`)}`,
  ])
  const place = `${quote(model, ROWS)}.${quote(model, PLACE)} AS ${quote(model, PLACE)}`
  const met = condition.kind === 'always' ? '' : ` WHERE ${conditionText(condition)}`
  const from = writeRows(store, question, group, records)
  const sql = `SELECT ${[place, ...columns].join(', ')} FROM (${from}) AS ${quote(model, ROWS)}${met}`
  const found = await withWriteTimeout(store, () => runReadQuery(sequelize, { sql, transaction, writes: true }))
  for (const row of found) noteParts(store, parts, row)
  const admitted = new Set(found.map((row) => Number(row[PLACE])))
  return records.map(({ place: at }) => at).filter((at) => !admitted.has(at))
}

function noteParts(store: StatementContext, parts: readonly ConditionPart[], row: RawRow): void {
  for (const [index, { node, start }] of parts.entries()) {
    const value = row[`_v${index}`]
    if (value === null || value === undefined) continue
    requestHistoryOf(store)?.notePart(node, String(start.decode(value)), Number(row[`_m${index}`]) === 1)
  }
}

/** Writes a SELECT of the records as they would be stored. */
function writeRows(
  store: StatementContext,
  { fields }: ScopeQuery,
  { assigned }: PendingGroup,
  records: readonly PendingRecord[],
): string {
  const { model, dialect } = store
  const columns = fields.map(({ column }) => quote(model, column))
  const typed = `SELECT ${[...columns, `0 AS ${quote(model, PLACE)}`].join(', ')} FROM ${quoteTable(model)} WHERE 1 = 0`
  const stored: TableContext = { model, alias: STORED, canJoin: false }
  const rows = records.map(({ place, values, stored: record }) => {
    const valueExpressionOf = (field: Field): string =>
      record === null || assigned.has(field.name)
        ? sqlValue(store, field, values)
        : `${quote(model, STORED)}.${quote(model, field.column)}`
    const row = `SELECT ${[...fields.map(valueExpressionOf), place].join(', ')}`
    if (record === null) return row
    const writer = new WhereWriter(dialect, createInlineOperands(model))
    const where = writeCondition(model, writer.writeWhere(record.identity, stored), STORED)
    return `${row} FROM ${quoteTable(model)} AS ${quote(model, STORED)} WHERE ${where}`
  })
  return `SELECT * FROM (${[typed, ...rows].join(' UNION ALL ')}) AS ${quote(model, UNION)} LIMIT ${MAX_ROWS}`
}

const NUMBER = /^-?\d+(\.\d+)?$/

/** Writes the SQL of a value with the type of its column. */
function sqlValue(store: StatementContext, field: Field, values: Changes): string {
  const stored = encodeColumn(store, field, values.get(field.name))
  if (stored === null) return 'NULL'
  const { type } = field.valueType
  const isNumber = type === 'integer' || type === 'bigint' || type === 'decimal' || type === 'float'
  if (isNumber && NUMBER.test(String(stored))) return String(stored)
  return store.dialect.literal(escapeValue(store.model, stored), type)
}
