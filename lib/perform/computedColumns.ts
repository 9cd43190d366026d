import type { Row } from '../../types/outcome.js'
import type { Column, Embed } from '../../types/plan.js'
import { isGetterOrVirtual, ownColumn } from '../common/columns.js'
import { internalError } from '../common/internalError.js'
import { MAX_LARGE_VALUES } from '../common/largeColumns.js'
import { addCondition } from '../common/predicates.js'
import type { ResponseSize } from '../common/responseSize.js'
import { type FindSource, findInstances } from './instances/find.js'
import { buildIdentityPredicate, identityText } from './recordIdentity.js'
import type { StatementContext } from './store.js'

/**
 * Adds the values of getters and virtual attributes to the rows of a collection. Each given row has the stored columns,
 * followed by the record's identity.
 */
export async function addComputedColumns(
  store: StatementContext,
  { join, identity, projection: { columns } }: Embed,
  rows: readonly Row[],
  size: ResponseSize,
): Promise<readonly Row[]> {
  const [key] = identity
  if (key === undefined)
    throw internalError(`the records of the association "${join.relation.name}" were read without their key`)
  const { dialect, sequelize, limit } = store
  const resource = { key, keys: identity, fields: identity }
  const source: FindSource = { dialect, sequelize, limit, model: join.relation.association.target, resource }
  const stored = columns.filter((column) => !isGetterOrVirtual(column)).length
  const identityTextOf = (row: Row, from: number): string => identityText(identity, row.slice(from))
  const distinct = new Map(rows.map((row) => [identityTextOf(row, stored), row]))
  const needed = [...distinct.values()].map((row) => row.slice(stored))
  const computed = columns.filter(isGetterOrVirtual)
  const found = new Map<string, Row>()
  const counted = size.startNew()
  for (let at = 0; at < needed.length; at += MAX_LARGE_VALUES) {
    const chunk = needed.slice(at, at + MAX_LARGE_VALUES)
    const instances = await findInstances(source, {
      where: addCondition(join.condition, buildIdentityPredicate(identity, chunk)),
      columns: [...identity.map(ownColumn), ...computed],
      order: [],
      limit: chunk.length,
      offset: 0,
      hooks: false,
      ...(store.transaction === undefined ? {} : { transaction: store.transaction }),
    })
    counted.add(instances)
    for (const row of instances) found.set(identityTextOf(row, 0), row.slice(identity.length))
  }
  return rows.map((row) => mergeColumns(columns, row, found.get(identityTextOf(row, stored)) ?? []))
}

/** Merges stored and computed values in the order of the columns. */
function mergeColumns(columns: readonly Column[], stored: Row, computed: Row): Row {
  let [storedAt, computedAt] = [0, 0]
  return columns.map((column) => {
    if (!isGetterOrVirtual(column)) return stored[storedAt++]
    const value = computed[computedAt++]
    return value === undefined ? null : value
  })
}
