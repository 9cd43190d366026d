import type { Outcome, Row } from '../../types/outcome.js'
import type { UpsertPlan } from '../../types/plan.js'
import { keyColumns, keyOfValues, withKeys } from '../common/keys.js'
import { both, withoutApart } from '../common/predicates.js'
import { isDeadlock, isTaken } from './failure.js'
import { locked, some } from './read.js'
import { type Children, type Item, preconditionOf, type Write, writeAll } from './several.js'
import { mostRows, ofRecord } from './spelled.js'
import { type Store, within } from './store.js'
import { inTransaction, markRaced } from './transaction.js'

/**
 * Updates the record with each item's values, or creates one. If another request creates one meanwhile, everything is
 * repeated and finds it.
 */
export async function upsert(
  store: Store,
  plan: UpsertPlan,
  write: Write,
  children: Children | null = null,
): Promise<Outcome> {
  if (plan.items.length === 0) return { kind: 'parts', parts: [] }
  return inTransaction(store, async (transaction) => {
    const joined = within(store, transaction)
    const { items, stored } = await settled(joined, plan)
    const refused = items.find((item) => item.kind === 'create' && item.refusal !== undefined)
    if (refused?.kind === 'create') throw refused.refusal
    const writeOne: Write = async (inside, item) => {
      try {
        return await write(inside, item)
      } catch (error) {
        const isRaced = item.kind === 'create' && isTaken(error, store.resource, plan.by)
        throw isRaced || isDeadlock(error, store.dialect) ? markRaced(error) : error
      }
    }
    return writeAll(joined, { items, stored }, writeOne, children)
  })
}

/** The write for each item: the update of an existing record, with its stored version, or a creation. */
export async function settled(
  store: Store,
  { by, nameOf, items, wanted, any }: UpsertPlan,
): Promise<{ readonly items: readonly Item[]; readonly stored: ReadonlyMap<Item, unknown> }> {
  const { key, keys: fields } = store.resource
  const version = items.map(({ update }) => preconditionOf(update)).find((each) => each !== null)?.field ?? key
  const columns = keyColumns([...fields, version, ...by])
  const { length } = fields
  const found: Row[] = []
  // Without a lock: a gap lock on missing rows would block other requests that create them.
  for (const where of wanted) {
    found.push(...(await some(store, both(where, any.where), keyColumns(fields), mostRows(fields, items.length))))
  }
  const keys = found.map((row) => keyOfValues(fields, row))
  const most = mostRows(fields, keys.length)
  const rows = keys.length === 0 ? [] : await locked(store, both(withKeys(fields, keys), any.where), columns, most)
  const byName = new Map(rows.map((row) => [nameOf(row.slice(length + 1)), row]))
  const stored = new Map<Item, unknown>()
  const parts = items.map(({ name, update, create }): Item => {
    const row = byName.get(name)
    if (row === undefined) return create
    const item = ofRecord(fields, { ...update, where: withoutApart(update.where) }, row)
    stored.set(item, row[length])
    return item
  })
  return { items: parts, stored }
}
