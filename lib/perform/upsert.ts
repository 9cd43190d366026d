import type { Field } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { UpsertPlan } from '../../types/plan.js'
import { encodeKey, keyColumns, matchKeys } from '../common/keys.js'
import { addCondition, removeSubqueries } from '../common/predicates.js'
import { isUniqueConflict } from './failure.js'
import { type ItemPlan, type ItemsChildren, type ItemWriter, preconditionOf, writeItems } from './items.js'
import { readLocked, readVisible } from './read.js'
import type { StatementContext } from './store.js'
import { inTransaction, markRaced } from './transaction.js'
import { lockUniqueValues } from './uniqueLocks.js'
import { maxRowsOf, narrowToRecord } from './uuidSpellings.js'

/**
 * Updates, for each item, the record with the item's unique values, or creates a record. If another request creates
 * that record meanwhile, all items are repeated and the record is found.
 */
export async function performUpsert(
  store: StatementContext,
  plan: UpsertPlan,
  write: ItemWriter,
  children: ItemsChildren | null = null,
): Promise<Outcome> {
  if (plan.items.length === 0) return { kind: 'parts', parts: [] }
  return inTransaction(store, async (transaction) => {
    const joined = { ...store, transaction }
    const { items, stored } = await resolveItems(joined, plan)
    const refused = items.find((item) => item.kind === 'create' && item.policyError !== undefined)
    if (refused?.kind === 'create') throw refused.policyError
    const writeOne: ItemWriter = async (inside, item) => {
      try {
        return await write(inside, item)
      } catch (error) {
        const isRaced = item.kind === 'create' && isUniqueConflict(error, store.resource, plan.by)
        throw isRaced ? markRaced(error) : error
      }
    }
    return writeItems(joined, { items, stored }, writeOne, children)
  })
}

/** Plans the write of each item: the update of an existing record, with its stored version, or a creation. */
export async function resolveItems(
  store: StatementContext,
  plan: UpsertPlan,
): Promise<{ readonly items: readonly ItemPlan[]; readonly stored: ReadonlyMap<ItemPlan, unknown> }> {
  const { by, uniqueTextOf, items, anyUpdate } = plan
  const { key, keys: fields } = store.resource
  const version = items.map(({ update }) => preconditionOf(update)).find((each) => each !== null)?.field ?? key
  const columns = keyColumns([...fields, version, ...by])
  const { length } = fields
  let found = await findItems(store, plan)
  // Another transaction may insert the records while this transaction waits for the locks.
  if (
    items.length - found.length > 1 &&
    (await lockUniqueValues(
      store,
      items.map(({ create }) => create.changes),
    ))
  )
    found = await findItems(store, plan)
  const keys = found.map((row) => encodeKey(fields, row))
  const most = maxRowsOf(fields, keys.length)
  const rows =
    keys.length === 0
      ? []
      : await readLocked(store, addCondition(matchKeys(fields, keys), anyUpdate.where), columns, most)
  const byName = new Map(rows.map((row) => [uniqueTextOf(row.slice(length + 1)), row]))
  const stored = new Map<ItemPlan, unknown>()
  const parts = items.map(({ uniqueText, update, create }): ItemPlan => {
    const row = byName.get(uniqueText)
    if (row === undefined) return create
    const item = narrowToRecord(fields, { ...update, where: removeSubqueries(update.where) }, row)
    stored.set(item, row[length])
    return item
  })
  return { items: parts, stored }
}

/**
 * Finds the existing records of the items. The rows are not locked, because a gap lock on missing rows would block other
 * requests that create these rows.
 */
async function findItems(
  store: StatementContext,
  { items, lookups, anyUpdate }: UpsertPlan,
  fields: readonly Field[] = store.resource.keys,
): Promise<readonly Row[]> {
  const most = maxRowsOf(store.resource.keys, items.length)
  const found: Row[] = []
  for (const where of lookups) {
    found.push(...(await readVisible(store, addCondition(where, anyUpdate.where), keyColumns(fields), most)))
  }
  return found
}

/** Returns the `uniqueText` of the items whose record is stored, and visible to the caller. */
export async function findStoredItems(store: StatementContext, plan: UpsertPlan): Promise<ReadonlySet<string>> {
  return new Set((await findItems(store, plan, plan.by)).map((row) => plan.uniqueTextOf(row)))
}
