import type { Changes, Invalid } from '../../types/changes.js'
import type { BulkUpdateIntent, CreateIntent, Item, UpdateIntent } from '../../types/intent.js'
import type {
  BulkUpdatePlan,
  CreatePlan,
  KeyValue,
  Predicate,
  Projection,
  UpdatePlan,
  Upkeep,
} from '../../types/plan.js'
import type { BodyNames, Resource, Validation } from '../../types/resource.js'
import type { KeyFields } from '../common/keys.js'
import { fault } from '../common/messages.js'
import { problem } from '../common/problem.js'
import { mapInTurns } from '../common/turns.js'
import { byKey, readStatedKey } from './key.js'

export const UNHOOKED = { before: null, after: null } as const
const NO_UPKEEP: Upkeep = { values: new Map(), increments: [] }

/** Plan members for one record by its key, without any change. */
export function unchanging(
  resource: Resource,
  key: KeyValue,
): Omit<UpdatePlan, 'kind' | 'match' | 'projection' | 'instant'> {
  const identity = byKey(resource.keys, [key])
  return {
    key,
    identity,
    where: identity,
    precondition: null,
    changes: new Map(),
    upkeep: NO_UPKEEP,
    invalid: null,
    ...UNHOOKED,
  }
}

export function judged(verdict: Validation): { readonly changes: Changes; readonly invalid: Invalid | null } {
  return { changes: verdict.changes, invalid: 'errors' in verdict ? verdict : null }
}

interface Naming {
  readonly names: BodyNames
}

export function planCreate(
  resource: Resource,
  { body, names }: Pick<CreateIntent, 'body'> & Naming,
  projection: Projection,
  instant: Date,
): CreatePlan {
  const { changes, invalid } = judged(resource.validateCreate(body, names))
  return { kind: 'create', changes, invalid, upkeep: new Map(), projection, instant, before: null, after: null }
}

/** An update whose record is known by its key. */
type Addressed = Pick<UpdateIntent, 'match' | 'body'> & Naming & { readonly key: KeyValue }

export function planUpdate(
  resource: Resource,
  { key, match, body, names }: Addressed,
  projection: Projection,
  instant: Date,
  operation?: 'bulkUpdate',
): UpdatePlan {
  const identity = byKey(resource.keys, [key])
  const { changes, invalid } = judged(resource.validateUpdate(body, names))
  // Written out, for one object shape: a bulk request has hundreds.
  return {
    kind: 'update',
    operation,
    key,
    identity,
    where: identity,
    precondition: null,
    changes,
    invalid,
    upkeep: NO_UPKEEP,
    match,
    projection,
    instant,
    before: null,
    after: null,
  }
}

/**
 * Plans each item as an update. Items with invalid keys are reported with items whose records are missing.
 *
 * @throws Problem 400 for items without a key, duplicate keys and invalid versions
 */
export async function planBulkUpdate(
  resource: Resource,
  { items }: BulkUpdateIntent,
  names: BodyNames,
  projection: Projection,
  instant: Date,
): Promise<BulkUpdatePlan> {
  const { keys: fields } = resource
  const faults = new Faults(resource)
  const seen = new Set<KeyValue>()
  const keys = items.map((item, index): KeyValue | null => {
    if (item === null || item.key === undefined || item.key === null) {
      if (item === null) faults.add(`[${index}]`, 'object')
      else for (const name of missingIn(fields, item)) faults.add(`[${index}].${name}`, 'required')
      return null
    }
    const read = readStatedKey(fields, item.key)
    if (read !== null && seen.has(read)) faults.add(`[${index}].${fields.at(-1)?.json}`, 'twice')
    if (read !== null) seen.add(read)
    return read
  })
  for (const [index, item] of items.entries()) if (item !== null) faults.version(item, index)
  faults.throwIfAny()
  const updates = await mapInTurns(items, (item, index): UpdatePlan => {
    const { body = {} } = item ?? {}
    const value = keys[index] ?? null
    const match = item === null ? null : matchOf(item)
    const update = planUpdate(resource, { key: value ?? '', match, body, names }, projection, instant, 'bulkUpdate')
    return value === null ? { ...update, identity: NEVER, where: NEVER } : update
  })
  const all = planUpdate(resource, { key: '', match: null, body: {}, names }, projection, instant, 'bulkUpdate')
  return {
    kind: 'bulkUpdate',
    items: updates,
    all: { ...all, where: byKey(fields, [...seen]) },
  }
}

/** Names of the key parts that an item lacks. */
function missingIn(keys: KeyFields, { body }: Item): readonly string[] {
  const isThere = (name: string): boolean =>
    Object.hasOwn(body, name) && body[name] !== undefined && body[name] !== null
  return keys.flatMap(({ json }) => (isThere(json) ? [] : [json]))
}

const NEVER: Predicate = { kind: 'never' }

/** The version of an item, as an `If-Match` value. A number that is not a valid version matches no record. */
export function matchOf({ version }: Pick<Item, 'version'>): readonly string[] | null {
  if (version === undefined) return null
  return Number.isSafeInteger(version) && Number(version) >= 0 ? [String(version)] : []
}

/** Collects the errors of items before any record is read. */
export class Faults {
  readonly #errors: Record<string, readonly string[]> = {}
  readonly #resource: Resource

  constructor(resource: Resource) {
    this.#resource = resource
  }

  add(name: string, code: 'object' | 'required' | 'twice' | 'number'): void {
    this.#errors[name] ??= [this.#resource.tell(fault(code))]
  }

  /** Adds error messages for a member. */
  tell(name: string, messages: readonly string[]): void {
    this.#errors[name] ??= messages
  }

  version({ version }: Pick<Item, 'version'>, index: number): void {
    const { fields, version: attribute } = this.#resource
    if (version === undefined || typeof version === 'number') return
    this.add(`[${index}].${fields.find(({ name }) => name === attribute)?.json}`, 'number')
  }

  /** @throws Problem 400 */
  throwIfAny(): void {
    if (Object.keys(this.#errors).length > 0) throw problem('validation', { errors: this.#errors })
  }
}
