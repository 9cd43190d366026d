// Nobody is admitted to a record by what the same request writes. For this the rows that a request has written are known, and which
// parts of conditions were met before it.

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
  /** The parts of the keys, by the names of the records. */
  readonly created: Map<string, Row>
  readonly updated: Map<string, Row>
  /** Whether keys of created rows are not known. */
  isOpen: boolean
}

/** The most rows that a condition leaves out one by one. */
const MOST = 1000

/** What a request has written, and what was met before. */
export class BeforeRequest {
  readonly #met = new Map<Predicate, Map<string, boolean>>()
  readonly #written = new Map<ModelStatic<Model>, Written>()
  readonly #values = new Map<ModelStatic<Model>, Map<string, Set<string>>>()

  /** Notes whether a part of a condition was met before the request, for records with a value of the foreign key it starts at. */
  note(part: Predicate, value: string, isMet: boolean): void {
    const known = this.#met.get(part) ?? new Map<string, boolean>()
    this.#met.set(part, known)
    if (!known.has(value)) known.set(value, isMet)
  }

  /** Whether the part was met; undefined for a value that nobody asked for. */
  wasMet(part: Predicate, value: string): boolean | undefined {
    return this.#met.get(part)?.get(value)
  }

  /** Notes the values of records that the request is about to create. */
  willCreate({ model, fields }: Resource, values: Changes): void {
    for (const field of fields) {
      const value = values.get(field.name)
      if (value !== undefined && value !== null) this.#valuesOf(model, field.name).add(String(field.decode(value)))
    }
  }

  /** Whether the request creates a record of a model with this value of an attribute. */
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

  /** Notes the records that a part of the request has written. */
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

  /** The condition without the rows that the request has created, and without those of one model that it has changed. */
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

/** What is known of the request whose writes a transaction has; null where no scope has a condition. */
export function knownBefore({ transaction }: Pick<Store, 'transaction'>): BeforeRequest | null {
  return transaction === undefined ? null : (requests.get(transaction) ?? null)
}

/** Begins to note what the request does in a transaction. */
export function beginRequest(transaction: Transaction): BeforeRequest {
  const known = requests.get(transaction) ?? new BeforeRequest()
  requests.set(transaction, known)
  return known
}
