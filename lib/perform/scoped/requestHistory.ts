// Tracks the rows that a request writes, and the parts of conditions that were met before. A row that a request writes
// must not bring another record of the request into a scope.

import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { CreatePlan, Plan, Predicate, UpdatePlan } from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import { indexOfOwnColumn } from '../../common/columns.js'
import { getOrCreate } from '../../common/getOrCreate.js'
import type { KeyFields } from '../../common/keys.js'
import { outcomeRows } from '../../common/outcomeRows.js'
import { buildExclusionPredicate, identityText } from '../recordIdentity.js'
import type { StatementContext } from '../store.js'
import { limitPaths, type RowLimit } from './paths.js'

/** Rows of one table that a request has written. */
interface WrittenRows {
  readonly keys: KeyFields
  /** Key values of created and updated records, by key text. */
  readonly created: Map<string, Row>
  readonly updated: Map<string, Row>
  /** Whether some created rows have unknown keys. */
  hasUnknownKeys: boolean
}

/**
 * Maximum number of rows that a condition excludes. Beyond the maximum, the condition excludes every row of the table.
 */
const MAX_EXCLUDED = 1000

export class RequestHistory {
  readonly #metParts = new Map<Predicate, Map<string, boolean>>()
  readonly #writtenRows = new Map<ModelStatic<Model>, WrittenRows>()
  readonly #newValues = new Map<ModelStatic<Model>, Map<string, Set<string>>>()

  /** Notes whether a part of a condition was met before the request, for a value of the part's foreign key. */
  notePart(part: Predicate, value: string, isMet: boolean): void {
    const known = getOrCreate(this.#metParts, part, () => new Map())
    if (!known.has(value)) known.set(value, isMet)
  }

  /** Returns whether the part was met, or undefined if the value was not checked. */
  wasMet(part: Predicate, value: string): boolean | undefined {
    return this.#metParts.get(part)?.get(value)
  }

  /** Registers the values of a record that the request will create. */
  noteNewValues({ model, fields }: Resource, values: Changes): void {
    for (const field of fields) {
      const value = values.get(field.name)
      // No foreign key refers to a JSON column, whose values in a body are not in the form of stored values.
      if (field.valueType.type === 'json') continue
      if (value !== undefined && value !== null) this.#newValuesOf(model, field.name).add(String(field.decode(value)))
    }
  }

  /** Whether the request creates a record with this value of an attribute. */
  isCreating(model: ModelStatic<Model>, attribute: string, value: string): boolean {
    return this.#newValues.get(model)?.get(attribute)?.has(value) ?? false
  }

  #newValuesOf(model: ModelStatic<Model>, attribute: string): Set<string> {
    const ofModel = getOrCreate(this.#newValues, model, () => new Map())
    return getOrCreate(ofModel, attribute, () => new Set())
  }

  /** Registers the records that a part of the request has written. */
  noteWrite(resource: Resource, plan: Plan, outcome: Outcome): void {
    if (outcome.kind === 'parts') {
      for (const part of outcome.parts) this.noteWrite(resource, part.plan, part.outcome)
    } else if (plan.kind === 'create' || plan.kind === 'bulkCreate')
      this.#noteCreated(resource, plan, outcomeRows(outcome))
    else if (plan.kind === 'update') this.#noteUpdated(resource, plan, outcomeRows(outcome))
  }

  #noteCreated(
    resource: Resource,
    { projection: { columns } }: Pick<CreatePlan, 'projection'>,
    rows: readonly Row[],
  ): void {
    const { model, keys } = resource
    const written = this.#writtenRowsOf(resource)
    const positions = keys.map(({ name }) => indexOfOwnColumn(columns, name))
    const own = columns.filter(({ joins, countedJoin, field }) => {
      return joins.length === 0 && countedJoin === undefined && field.derived === undefined && !field.virtual
    })
    for (const row of rows) {
      const parts = positions.map((position) => row[position])
      if (positions.includes(-1)) written.hasUnknownKeys = true
      else written.created.set(identityText(keys, parts), parts)
      for (const { field } of own) {
        const value = row[indexOfOwnColumn(columns, field.name)]
        if (value !== null && value !== undefined) this.#newValuesOf(model, field.name).add(String(field.decode(value)))
      }
    }
  }

  #noteUpdated(
    resource: Resource,
    { projection: { columns } }: Pick<UpdatePlan, 'projection'>,
    rows: readonly Row[],
  ): void {
    const { keys } = resource
    const positions = keys.map(({ name }) => indexOfOwnColumn(columns, name))
    if (positions.includes(-1)) return
    for (const row of rows) {
      const parts = positions.map((position) => row[position])
      this.#writtenRowsOf(resource).updated.set(identityText(keys, parts), parts)
    }
  }

  #writtenRowsOf({ model, keys }: Resource): WrittenRows {
    return getOrCreate(this.#writtenRows, model, () => ({
      keys,
      created: new Map(),
      updated: new Map(),
      hasUnknownKeys: false,
    }))
  }

  /**
   * Excludes from a condition the rows that the request has created. Also excludes updated rows of the model `changed`.
   */
  excludeWritten(condition: Predicate, changed: ModelStatic<Model> | null): Predicate {
    if (this.#writtenRows.size === 0) return condition
    const limit: RowLimit = (model) => {
      const written = this.#writtenRows.get(model)
      if (written === undefined) return null
      const { keys, created, updated, hasUnknownKeys } = written
      const rows = [...created.values(), ...(model === changed ? updated.values() : [])]
      if (hasUnknownKeys || rows.length > MAX_EXCLUDED) return { kind: 'never' }
      return rows.length === 0 ? null : buildExclusionPredicate(keys, rows)
    }
    return limitPaths(condition, limit)
  }
}

const histories = new WeakMap<Transaction, RequestHistory>()

/** Returns the history of a transaction, or null if no scope has a condition. */
export function requestHistoryOf({ transaction }: Pick<StatementContext, 'transaction'>): RequestHistory | null {
  return transaction === undefined ? null : (histories.get(transaction) ?? null)
}

/** Starts to track the writes of a transaction. */
export function startRequestHistory(transaction: Transaction): void {
  if (!histories.has(transaction)) histories.set(transaction, new RequestHistory())
}
