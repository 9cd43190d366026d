import type { Row } from '../../types/outcome.js'
import type { Column, Embed } from '../../types/plan.js'
import { isComputed, ownColumn } from '../common/columns.js'
import { LARGE_AT_ONCE } from '../common/largeColumns.js'
import { both } from '../common/predicates.js'
import type { ResponseSize } from '../common/responseSize.js'
import { identified, identityName } from './identified.js'
import { findInstances, type Source } from './instances/find.js'
import type { Store } from './store.js'

/**
 * Adds the values of getters and virtual attributes to the rows of a collection. The given rows have the other columns,
 * followed by the identity of each record.
 */
export async function completed(
  store: Store,
  { hop, identity, projection: { columns } }: Embed,
  rows: readonly Row[],
  size: ResponseSize,
): Promise<readonly Row[]> {
  const [key] = identity
  if (key === undefined) throw new TypeError(`the records of ${hop.relation.name} have no key`)
  const { dialect, sequelize, limit } = store
  const source: Source = { dialect, sequelize, limit, model: hop.relation.association.target, resource: { key } }
  const stored = columns.filter((column) => !isComputed(column)).length
  const named = (row: Row, from: number): string => identityName(identity, row.slice(from))
  const distinct = new Map(rows.map((row) => [named(row, stored), row]))
  const wanted = [...distinct.values()].map((row) => row.slice(stored))
  const computed = columns.filter(isComputed)
  const found = new Map<string, Row>()
  const counted = size.another()
  for (let at = 0; at < wanted.length; at += LARGE_AT_ONCE) {
    const chunk = wanted.slice(at, at + LARGE_AT_ONCE)
    const instances = await findInstances(source, {
      where: both(hop.guard, identified(identity, chunk)),
      columns: [...identity.map(ownColumn), ...computed],
      order: [],
      limit: chunk.length,
      offset: 0,
      hooks: false,
      ...(store.transaction === undefined ? {} : { transaction: store.transaction }),
    })
    counted.add(instances)
    for (const row of instances) found.set(named(row, 0), row.slice(identity.length))
  }
  return rows.map((row) => merged(columns, row, found.get(named(row, stored)) ?? []))
}

/** Merges stored and computed values in the order of the columns. */
function merged(columns: readonly Column[], stored: Row, computed: Row): Row {
  let [storedAt, computedAt] = [0, 0]
  return columns.map((column) => {
    if (!isComputed(column)) return stored[storedAt++]
    const value = computed[computedAt++]
    return value === undefined ? null : value
  })
}
