import type { Changes } from '../../types/changes.js'
import type { ForeignKeyViolation } from '../../types/failures.js'
import type { Field } from '../../types/field.js'
import type { Plan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { createMessage } from '../common/messages.js'
import { type Problem, problem } from '../common/problem.js'
import { findForeignKeyViolation } from '../sequelize/failure.js'
import { countReferencedValues } from '../sequelize/foreignKeys.js'
import { escapeValue, quoteTable } from '../sequelize/sql.js'
import { ambientTransaction } from '../sequelize/transaction.js'
import { buildInstance } from './build.js'
import { encodeColumn } from './encodedRows.js'
import { findFieldByColumn } from './failure.js'
import type { StatementContext } from './store.js'

const MISSING_REFERENCE = 'A record that this one refers to does not exist.'
const STILL_REFERENCED = 'Other records still refer to this one.'
const MISSING_OR_REFERENCED =
  'A record that this one refers to does not exist, or other records still refer to this one.'

/**
 * Returns the Problem for a violated foreign key, or null for other failures. The fields come from the database error
 * and from a search for missing references, because databases report at most one foreign key.
 */
export async function foreignKeyProblem(error: unknown, store: StatementContext, plan: Plan): Promise<Problem | null> {
  const violation = findForeignKeyViolation(error, store.dialect)
  if (violation === null) return null
  const { kind } = plan
  if (kind === 'delete') return problem('conflict', { detail: STILL_REFERENCED })
  if (kind === 'bulkDelete') return problem('conflict', { detail: 'Other records still refer to one of these.' })
  if (violation.isReferenced) return problem('conflict', { detail: STILL_REFERENCED })
  const reported = reportedColumns(violation, store)
  const missing = await findMissingReferences(store, plan)
  const columns = [...new Set([...reported, ...missing])]
  const isNew = kind === 'create' || kind === 'bulkCreate'
  if (columns.length === 0) return problem('conflict', { detail: isNew ? MISSING_REFERENCE : MISSING_OR_REFERENCED })
  return missingReferenceProblem(store.resource, fieldsOfColumns(store, columns))
}

/**
 * Returns the given foreign keys, and the other foreign keys in the plan whose referenced record is missing in the
 * database.
 */
export async function addMissingReferences(
  store: StatementContext,
  plan: Plan,
  fields: readonly Field[],
): Promise<readonly Field[]> {
  return [...new Set([...fields, ...fieldsOfColumns(store, await findMissingReferences(store, plan, fields))])]
}

function fieldsOfColumns({ resource }: StatementContext, columns: readonly string[]): readonly Field[] {
  return columns.flatMap((column) => findFieldByColumn(resource, column) ?? [])
}

/**
 * Returns the Problem for foreign keys without a referenced record. The Problem names only fields that clients know, in
 * the order of the model.
 */
export function missingReferenceProblem({ fields, translate }: Resource, missing: readonly Field[]): Problem {
  const named = fields
    .filter((field) => missing.includes(field) && (field.targets.size > 0 || field.isKey))
    .map(({ json }) => [json, [translate(createMessage('foreign-key'))]] as const)
  return problem('conflict', {
    detail: MISSING_REFERENCE,
    ...(named.length === 0 ? {} : { errors: Object.fromEntries(named) }),
  })
}

/**
 * Returns the columns that the database names, if the violation is in the model's own table. A trigger or hook may have
 * violated a foreign key of another table.
 */
function reportedColumns({ table, columns }: ForeignKeyViolation, { model }: StatementContext): readonly string[] {
  const name: string | object = model.getTableName()
  const own: unknown = typeof name === 'object' ? Reflect.get(name, 'tableName') : name
  return table === own ? columns : []
}

/** Returns the values of each written record by attribute, as far as the plan contains them. */
function writtenValues(store: StatementContext, plan: Plan): readonly Changes[] {
  const mergeValues = (changes: Changes, serverValues: Changes): Changes =>
    new Map(Object.entries(buildInstance(store, changes, serverValues).dataValues))
  if (plan.kind === 'create') return [mergeValues(plan.changes, plan.serverValues)]
  if (plan.kind === 'bulkCreate') {
    // Parents that the same request created are already rolled back, so foreign keys to these parents are not checked.
    const { parentKeys = [], records, serverValues } = plan
    return records.map((changes) => omitAttributes(mergeValues(changes, serverValues), parentKeys))
  }
  if (plan.kind === 'bulkUpdate') return plan.items.flatMap((item) => writtenValues(store, item))
  if (plan.kind === 'upsert') {
    return plan.items.flatMap(({ update, create }) => [update, create].flatMap((part) => writtenValues(store, part)))
  }
  if (plan.kind === 'replace') {
    return [plan.update, ...(plan.create === null ? [] : [plan.create])].flatMap((part) => writtenValues(store, part))
  }
  return plan.kind === 'update' ? [new Map([...plan.changes, ...plan.serverValues.values])] : []
}

function omitAttributes(values: Changes, names: readonly string[]): Changes {
  return new Map([...values].filter(([name]) => !names.includes(name)))
}

/**
 * Finds the foreign key columns whose referenced record is missing, apart from the fields in `known`. Returns none if
 * the search fails.
 */
async function findMissingReferences(
  store: StatementContext,
  plan: Plan,
  known: readonly Field[] = [],
): Promise<readonly string[]> {
  return searchMissingReferences(store, plan, known).catch(() => [])
}

async function searchMissingReferences(
  store: StatementContext,
  plan: Plan,
  known: readonly Field[],
): Promise<readonly string[]> {
  const { model, resource, sequelize, dialect } = store
  const records = writtenValues(store, plan)
  const transaction = store.transaction ?? ambientTransaction(sequelize)
  const keys = await dialect.foreignKeys(model, transaction)
  const missing: string[] = []
  for (const key of keys) {
    const fields = key.columns.flatMap((column) => findFieldByColumn(resource, column) ?? [])
    if (fields.length < key.columns.length || fields.every((field) => known.includes(field))) continue
    const targets = key.table === quoteTable(model) ? fieldsOfColumns(store, key.targets) : []
    // A record may refer to itself, and to a record that the same request creates.
    const created = new Set(
      targets.length === 0 ? [] : records.flatMap((record) => escapeValues(store, record, targets)).map(String),
    )
    const values = distinctTuples(records.flatMap((record) => escapeValues(store, record, fields))).filter(
      (each) => !created.has(String(each)),
    )
    if (values.length === 0) continue
    if ((await countReferencedValues(model, key, values, transaction)) < values.length) missing.push(...key.columns)
  }
  return missing
}

/**
 * Returns one tuple of escaped values. Returns no tuple if a value is null or not written, because an incomplete
 * foreign key references nothing.
 */
function escapeValues(
  store: StatementContext,
  record: Changes,
  fields: readonly Field[],
): readonly (readonly string[])[] {
  const values = fields.map((field) => encodeColumn(store, field, record.get(field.name)))
  return values.includes(null) ? [] : [values.map((value) => escapeValue(store.model, value))]
}

function distinctTuples(values: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return [...new Map(values.map((each) => [each.join(), each])).values()]
}
