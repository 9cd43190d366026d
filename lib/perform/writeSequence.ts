import type { Outcome } from '../../types/outcome.js'
import type { Column, Join, Plan, Projection } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { indexOfOwnColumn, isOwnColumn } from '../common/columns.js'
import { outcomeRows } from '../common/outcomeRows.js'
import { hasSubquery } from '../common/predicates.js'
import { quoteTable } from '../sequelize/sql.js'
import { runsHooks } from './executor.js'
import { identityText, keyIdentityText } from './recordIdentity.js'
import type { StatementContext } from './store.js'

/** The order of the writes of one request. Finds rows that were read before a later write changed what they show. */
export class WriteSequence {
  #count = 0
  /** The number of each table's last write, and of its last deletion. */
  readonly #lastWrites = new Map<string, number>()
  readonly #lastDeletions = new Map<string, number>()
  /** The number of each record's last update, by table and identity. */
  readonly #lastUpdates = new Map<string, number>()
  /** The number of the last write with hooks. Hooks may change any record. */
  #lastWithHooks = 0
  /** The number of the last write before the rows of an outcome were read. */
  readonly #reads = new WeakMap<Outcome, number>()

  /** Registers a write. The rows of its outcome were read after the write. */
  noteWrite(store: StatementContext, plan: Plan, outcome: Outcome): void {
    if (hasChanges(outcome)) {
      const { model, keys } = store.resource
      const table = quoteTable(model)
      this.#count += 1
      this.#lastWrites.set(table, this.#count)
      if (outcome.kind === 'deleted') this.#lastDeletions.set(table, this.#count)
      if (plan.kind === 'update') this.#lastUpdates.set(table + keyIdentityText(keys, plan.key), this.#count)
      if (runsHooks(store, plan)) this.#lastWithHooks = this.#count
    }
    this.noteRead(outcome)
  }

  noteRead(outcome: Outcome): void {
    this.#reads.set(outcome, this.#count)
  }

  /** Whether a later write has possibly changed a record that the outcome's rows show, or a related record. */
  isStale(resource: Resource, outcome: Outcome, { columns }: Projection): boolean {
    const read = this.#reads.get(outcome)
    if (read === undefined || read === this.#count) return false
    return (
      this.#lastWithHooks > read ||
      this.#isUpdatedAgain(resource, outcome, columns, read) ||
      columns.some(({ joins, countedJoin }) =>
        [...joins, ...(countedJoin === undefined ? [] : [countedJoin])].some((join) => this.#isChanged(join, read)),
      ) ||
      this.#hasLostReference(resource, columns, read)
    )
  }

  /** Whether another part of the request has updated one of the records. Two relations may lead to one record. */
  #isUpdatedAgain({ model, keys }: Resource, outcome: Outcome, columns: readonly Column[], read: number): boolean {
    const table = quoteTable(model)
    if ((this.#lastWrites.get(table) ?? 0) <= read) return false
    const positions = keys.map(({ name }) => indexOfOwnColumn(columns, name))
    return outcomeRows(outcome).some((row) => {
      const identity = identityText(
        keys,
        positions.map((position) => row[position]),
      )
      return (this.#lastUpdates.get(table + identity) ?? 0) > read
    })
  }

  #isChanged({ relation: { association, joinModel }, condition, joinRowCondition }: Join, read: number): boolean {
    // The condition of a scope may read any table.
    if ([condition, joinRowCondition].some((each) => each !== null && hasSubquery(each))) return true
    const models = [association.target, ...(joinModel === null ? [] : [joinModel.model])]
    return models.some((model) => (this.#lastWrites.get(quoteTable(model)) ?? 0) > read)
  }

  /** Whether the database may have set a foreign key to null, because the request has deleted the referenced record. */
  #hasLostReference({ model }: Resource, columns: readonly Column[], read: number): boolean {
    if (this.#lastDeletions.size === 0) return false
    return Object.values(model.associations).some(
      ({ associationType, foreignKey, target }) =>
        associationType === 'BelongsTo' &&
        (this.#lastDeletions.get(quoteTable(target)) ?? 0) > read &&
        columns.some((column) => isOwnColumn(column, { name: foreignKey })),
    )
  }
}

function hasChanges(outcome: Outcome): boolean {
  if (outcome.kind === 'deleted') return outcome.count > 0
  return outcome.kind === 'record' ? outcome.isWritten !== false : outcome.kind !== 'records' || outcome.rows.length > 0
}
