import type { Changes } from '../../types/changes.js'
import type { Field } from '../../types/field.js'
import type { CreatePlan, KeyValue, Plan, UpdatePlan } from '../../types/plan.js'
import { splitIntoChunks } from '../common/chunks.js'
import { comparableKeyParts, spellingsOfPart } from '../common/keys.js'
import type { Problem } from '../common/problem.js'
import { uniquesOf } from '../sequelize/model.js'
import { runReadQuery } from '../sequelize/run.js'
import { escapeValue, quote, quoteTable } from '../sequelize/sql.js'
import { ambientTransaction } from '../sequelize/transaction.js'
import { buildInstance } from './build.js'
import { encodeColumn } from './encodedRows.js'
import { conflictProblem, findConflictingFields, findFieldByColumn } from './failure.js'
import { hasRecord } from './replace.js'
import type { StatementContext } from './store.js'
import { findStoredItems } from './upsert.js'

/** A record that a request writes. */
interface WrittenRecord {
  /** The values of the client, by attribute. */
  readonly changes: Changes
  /** All values that the plan contains, by attribute. */
  readonly values: ReadonlyMap<string, unknown>
  /** SQL condition for the stored record; null if the request creates the record. */
  readonly own: string | null
  /** Whether attributes that are not written keep their stored values. */
  readonly isUpdate: boolean
}

/** Maximum number of conditions in one OR, because SQLite limits the depth of a condition. */
const MAX_CONDITIONS = 100

/**
 * Returns the Problem for taken unique values, or null for other failures. The fields come from the database error and
 * from a search for taken values, because databases report only one unique key: some the first, some the last.
 */
export async function uniqueProblem(error: unknown, store: StatementContext, plan: Plan): Promise<Problem | null> {
  const reported = findConflictingFields(error, store.resource)
  if (reported === null) return null
  // If the search or a default value of the host fails, only the fields of the database error are named.
  const taken: readonly Field[] = await findTakenFields(store, plan).catch(() => [])
  const { fields } = store.resource
  return conflictProblem(
    store.resource,
    fields.filter((field) => reported.includes(field) || taken.includes(field)),
  )
}

/** Finds the fields of unique keys whose values belong to records that keep them. */
async function findTakenFields(store: StatementContext, plan: Plan): Promise<readonly Field[]> {
  const { model, sequelize, resource } = store
  const transaction = ambientTransaction(sequelize)
  const records = await writtenRecords(transaction === undefined ? store : { ...store, transaction }, plan)
  const taken: Field[] = []
  const uniqueKeys: readonly (readonly string[])[] = [model.primaryKeyAttributes, ...uniquesOf(model)]
  for (const columns of uniqueKeys) {
    const fields = columns.flatMap((column) => findFieldByColumn(resource, column) ?? [])
    // Conditions contain neither expressions of an index nor JSON, arrays and networks.
    const isOpaque = fields.some(({ valueType: { type } }) => type === 'json')
    if (isOpaque || fields.length === 0 || fields.length < columns.length) continue
    const writers = groupByCondition(records, (record) => matchUniqueKey(store, record, fields))
    // A record whose item keeps these values is not excluded from the search.
    const changed = new Set(records.flatMap((record) => (writesAny(record, fields) ? (record.own ?? []) : [])))
    const others = splitIntoChunks([...changed], MAX_CONDITIONS).map(
      (chunk) => ` AND (${chunk.join(' OR ')}) IS NOT TRUE`,
    )
    if ([...writers.values()].some(({ size }) => size > 1)) taken.push(...fields)
    for (const chunk of splitIntoChunks([...writers.keys()], MAX_CONDITIONS)) {
      const sql = `SELECT 1 AS _ FROM ${quoteTable(model)} WHERE (${chunk.join(' OR ')})${others.join('')} LIMIT 1`
      const rows = await runReadQuery(sequelize, { sql, transaction, writes: true })
      if (rows.length > 0) taken.push(...fields)
    }
  }
  return taken
}

function writesAny({ changes, values, isUpdate }: WrittenRecord, fields: readonly Field[]): boolean {
  const written = isUpdate ? values : changes
  return fields.some(({ name }) => written.has(name))
}

/** Groups records with the same values of a unique key. */
function groupByCondition(
  records: readonly WrittenRecord[],
  conditionOf: (record: WrittenRecord) => string | null,
): ReadonlyMap<string, ReadonlySet<unknown>> {
  const writers = new Map<string, Set<unknown>>()
  for (const record of records) {
    const condition = conditionOf(record)
    if (condition !== null) writers.set(condition, (writers.get(condition) ?? new Set()).add(record))
  }
  return writers
}

/**
 * Returns the SQL condition for records with the values of a unique key, in the columns' collations. Returns null if the
 * client sent none of the values, or if a value is null or unknown.
 */
function matchUniqueKey(store: StatementContext, record: WrittenRecord, fields: readonly Field[]): string | null {
  if (!fields.some(({ name }) => record.changes.has(name))) return null
  const { model } = store
  const operands = fields.map((field) => {
    const isStored = record.isUpdate && !record.values.has(field.name)
    if (isStored) return `(SELECT ${quote(model, field.column)} FROM ${quoteTable(model)} WHERE ${record.own})`
    const value = encodeColumn(store, field, record.values.get(field.name))
    return value === null ? null : escapeValue(model, value)
  })
  if (operands.includes(null)) return null
  return `(${fields.map(({ column }, index) => `${quote(model, column)} = ${operands[index]}`).join(' AND ')})`
}

async function writtenRecords(store: StatementContext, plan: Plan): Promise<readonly WrittenRecord[]> {
  switch (plan.kind) {
    case 'create':
      return [newRecord(store, plan, plan.revives === undefined ? null : matchRevived(store, plan))]
    case 'bulkCreate': {
      // Parents that the same request created are already rolled back.
      const { parentKeys = [], records, serverValues } = plan
      return records.map((changes) => {
        const record = newRecord(store, { changes, serverValues }, null)
        return { ...record, values: new Map([...record.values].filter(([name]) => !parentKeys.includes(name))) }
      })
    }
    case 'update':
      return [changedRecord(store, plan, matchKey(store, plan.key))]
    case 'bulkUpdate':
      return plan.items.map((item) => changedRecord(store, item, matchKey(store, item.key)))
    case 'replace': {
      const { update, create } = plan
      // A hidden record with the key is not updated: the creation fails, and the key is taken too.
      const isUpdate = create === null || (await hasRecord(store, update))
      return [isUpdate ? changedRecord(store, update, matchKey(store, update.key)) : newRecord(store, create, null)]
    }
    case 'upsert': {
      const stored = await findStoredItems(store, plan)
      return plan.items.map(({ uniqueText, update, create }) => {
        if (!stored.has(uniqueText)) return newRecord(store, create, null)
        const values = plan.by.map(({ name }) => create.changes.get(name))
        return changedRecord(store, update, matchValues(store, plan.by, values))
      })
    }
    default:
      return []
  }
}

function newRecord(
  store: StatementContext,
  { changes, serverValues }: Pick<CreatePlan, 'changes' | 'serverValues'>,
  own: string | null,
): WrittenRecord {
  const values = new Map<string, unknown>(Object.entries(buildInstance(store, changes, serverValues).dataValues))
  return { changes, values, own, isUpdate: false }
}

function changedRecord(store: StatementContext, plan: UpdatePlan, own: string): WrittenRecord {
  const { changes, serverValues, missingAttributes = new Set<string>() } = plan
  // A PUT sets members that its body omits to their defaults.
  const blank: Readonly<Record<string, unknown>> = missingAttributes.size > 0 ? store.model.build({}).dataValues : {}
  const defaults = [...missingAttributes].map((name): [string, unknown] => [name, blank[name] ?? null])
  return { changes, values: new Map([...defaults, ...changes, ...serverValues.values]), own, isUpdate: true }
}

/** Returns the SQL condition for the deleted record that a creation may have restored: the record with the same key. */
function matchRevived(store: StatementContext, { changes, serverValues }: CreatePlan): string {
  const { keys } = store.resource
  return matchValues(
    store,
    keys,
    keys.map(({ name }) => serverValues.get(name) ?? changes.get(name)),
  )
}

/** Returns the SQL condition for the record of a key. */
function matchKey(store: StatementContext, key: KeyValue): string {
  const { keys } = store.resource
  return matchValues(store, keys, comparableKeyParts(keys, key))
}

/** Returns the SQL condition for records with these values, each in any spelling. */
function matchValues(store: StatementContext, fields: readonly Field[], values: readonly unknown[]): string {
  const { model } = store
  const nodes = fields.map((field, index) => {
    const spellings = spellingsOfPart(field, values[index])
    const texts = spellings.map((value) => escapeValue(model, encodeColumn(store, field, value)))
    return `${quote(model, field.column)} IN (${texts.join(', ')})`
  })
  return `(${nodes.join(' AND ')})`
}
