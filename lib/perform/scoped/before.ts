// Tracks the rows that a request writes, and which parts of conditions were met before. A record must not be admitted
// to a scope by rows that the same request writes.

import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { CreatePlan, Plan, Predicate, UpdatePlan } from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import { placeOfOwn } from '../../common/columns.js'
import type { KeyFields } from '../../common/keys.js'
import { identityName, others } from '../identified.js'
import type { Store } from '../store.js'
import { type Limit, limitPaths } from './paths.js'

/** Rows of one table that a request has written. */
interface Written {
  readonly keys: KeyFields
  /** Key parts by the records' key texts. */
  readonly created: Map<string, Row>
  readonly updated: Map<string, Row>
  /** Whether some created rows have unknown keys. */
  isOpen: boolean
}

/** Maximum number of rows that a condition excludes individually. */
const MOST = 1000

/** Rows that a request has written, and parts of conditions that were met before. */
export class BeforeRequest {
  readonly #met = new Map<Predicate, Map<string, boolean>>()
  readonly #written = new Map<ModelStatic<Model>, Written>()
  readonly #values = new Map<ModelStatic<Model>, Map<string, Set<string>>>()

  /** Records whether a part of a condition was met before the request, for a value of its foreign key. */
  note(part: Predicate, value: string, isMet: boolean): void {
    const known = this.#met.get(part) ?? new Map<string, boolean>()
    this.#met.set(part, known)
    if (!known.has(value)) known.set(value, isMet)
  }

  /** Whether the part was met, or undefined if the value was not checked. */
  wasMet(part: Predicate, value: string): boolean | undefined {
    return this.#met.get(part)?.get(value)
  }

  /** Registers the values of records that the request will create. */
  willCreate({ model, fields }: Resource, values: Changes): void {
    for (const field of fields) {
      const value = values.get(field.name)
      if (value !== undefined && value !== null) this.#valuesOf(model, field.name).add(String(field.decode(value)))
    }
  }

  /** Whether the request creates a record with this value of an attribute. */
  creates(model: ModelStatic<Model>, attribute: string, value: string): boolean {
    return this.#values.get(model)?.get(attribute)?.has(value) ?? false
  }

  #valuesOf(model: ModelStatic<Model>, attribute: string): Set<string> {
    const ofModel = this.#values.get(model) ?? new Map<string, Set<string>>()
    this.#values.set(model, ofModel)
    const values = ofModel.get(attribute) ?? new Set<string>()
    ofModel.set(attribute, values)
    return values
  }

  /** Registers the records that a part of the request has written. */
  wrote(resource: Resource, plan: Plan, outcome: Outcome): void {
    if (outcome.kind === 'parts') {
      for (const part of outcome.parts) this.wrote(resource, part.plan, part.outcome)
    } else if (plan.kind === 'create' || plan.kind === 'bulkCreate') this.#created(resource, plan, rowsOf(outcome))
    else if (plan.kind === 'update') this.#updated(resource, plan, rowsOf(outcome))
  }

  #created(
    resource: Resource,
    { projection: { columns } }: Pick<CreatePlan, 'projection'>,
    rows: readonly Row[],
  ): void {
    const { model, keys } = resource
    const written = this.#writtenOf(resource)
    const places = keys.map(({ name }) => placeOfOwn(columns, name))
    const own = columns.filter(({ hops, counted, field }) => {
      return hops.length === 0 && counted === undefined && field.derived === undefined && !field.virtual
    })
    for (const row of rows) {
      const parts = places.map((place) => row[place])
      if (places.includes(-1)) written.isOpen = true
      else written.created.set(identityName(keys, parts), parts)
      for (const { field } of own) {
        const value = row[placeOfOwn(columns, field.name)]
        if (value !== null && value !== undefined) this.#valuesOf(model, field.name).add(String(field.decode(value)))
      }
    }
  }

  #updated(
    resource: Resource,
    { projection: { columns } }: Pick<UpdatePlan, 'projection'>,
    rows: readonly Row[],
  ): void {
    const { keys } = resource
    const places = keys.map(({ name }) => placeOfOwn(columns, name))
    if (places.includes(-1)) return
    for (const row of rows) {
      const parts = places.map((place) => row[place])
      this.#writtenOf(resource).updated.set(identityName(keys, parts), parts)
    }
  }

  #writtenOf({ model, keys }: Resource): Written {
    const known = this.#written.get(model)
    if (known !== undefined) return known
    const made: Written = { keys, created: new Map(), updated: new Map(), isOpen: false }
    this.#written.set(model, made)
    return made
  }

  /**
   * The condition, excluding rows that the request has created. Rows of the model `changed` that it has updated are
   * excluded too.
   */
  withoutWritten(condition: Predicate, changed: ModelStatic<Model> | null): Predicate {
    if (this.#written.size === 0) return condition
    const limit: Limit = (model) => {
      const written = this.#written.get(model)
      if (written === undefined) return null
      const { keys, created, updated, isOpen } = written
      const rows = [...created.values(), ...(model === changed ? updated.values() : [])]
      if (isOpen || rows.length > MOST) return { kind: 'never' }
      return rows.length === 0 ? null : others(keys, rows)
    }
    return limitPaths(condition, limit)
  }
}

function rowsOf(outcome: Outcome): readonly Row[] {
  if (outcome.kind === 'record') return [outcome.row]
  return outcome.kind === 'records' ? outcome.rows : []
}

const requests = new WeakMap<Transaction, BeforeRequest>()

/** The tracker of a transaction, or null if no scope has a condition. */
export function knownBefore({ transaction }: Pick<Store, 'transaction'>): BeforeRequest | null {
  return transaction === undefined ? null : (requests.get(transaction) ?? null)
}

/** Starts to track the request of a transaction. */
export function beginRequest(transaction: Transaction): BeforeRequest {
  const known = requests.get(transaction) ?? new BeforeRequest()
  requests.set(transaction, known)
  return known
}
