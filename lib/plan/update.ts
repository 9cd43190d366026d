import type { Changes, Invalid } from '../../types/changes.js'
import type { BatchItem, BulkUpdateIntent, CreateIntent, UpdateIntent } from '../../types/intent.js'
import type { BulkUpdatePlan, CreatePlan, KeyValue, Projection, ServerValues, UpdatePlan } from '../../types/plan.js'
import type { BodyNames, Resource, Validation } from '../../types/resource.js'
import { mapYielding } from '../common/eventLoop.js'
import type { KeyFields } from '../common/keys.js'
import { matchKeys } from '../common/keys.js'
import { createMessage } from '../common/messages.js'
import { NEVER } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { readBodyKey } from './key.js'

export const NO_HOOKS = { before: null, after: null } as const
const NO_SERVER_VALUES: ServerValues = { values: new Map(), increments: [] }

/** Creates the plan members for one record by its key, without any change. */
export function planWithoutChanges(
  resource: Resource,
  key: KeyValue,
): Omit<UpdatePlan, 'kind' | 'match' | 'projection' | 'instant'> {
  const identity = matchKeys(resource.keys, [key])
  return {
    key,
    identity,
    where: identity,
    precondition: null,
    changes: new Map(),
    serverValues: NO_SERVER_VALUES,
    invalid: null,
    ...NO_HOOKS,
  }
}

export function splitValidation(verdict: Validation): { readonly changes: Changes; readonly invalid: Invalid | null } {
  return { changes: verdict.changes, invalid: 'errors' in verdict ? verdict : null }
}

interface WithBodyNames {
  readonly names: BodyNames
}

export function planCreate(
  resource: Resource,
  { body, names }: Pick<CreateIntent, 'body'> & WithBodyNames,
  projection: Projection,
  instant: Date,
): CreatePlan {
  const { changes, invalid } = splitValidation(resource.validateCreate(body, names))
  return { kind: 'create', changes, invalid, serverValues: new Map(), projection, instant, before: null, after: null }
}

/** Update whose record is known by its key. */
type UpdateWithKey = Pick<UpdateIntent, 'match' | 'body'> & WithBodyNames & { readonly key: KeyValue }

export function planUpdate(
  resource: Resource,
  { key, match, body, names }: UpdateWithKey,
  projection: Projection,
  instant: Date,
  operation?: 'bulkUpdate',
): UpdatePlan {
  const identity = matchKeys(resource.keys, [key])
  const { changes, invalid } = splitValidation(resource.validateUpdate(body, names))
  // The literal gives all plans one object shape, because a bulk request has hundreds of plans.
  return {
    kind: 'update',
    operation,
    key,
    identity,
    where: identity,
    precondition: null,
    changes,
    invalid,
    serverValues: NO_SERVER_VALUES,
    match,
    projection,
    instant,
    before: null,
    after: null,
  }
}

/**
 * Plans each item as an update. Invalid keys are reported later, together with missing records.
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
  const faults = new ItemErrors(resource)
  const seen = new Set<KeyValue>()
  const keys = items.map((item, index): KeyValue | null => {
    if (item === null || item.key === undefined || item.key === null) {
      if (item === null) faults.add(`[${index}]`, 'object')
      else for (const name of missingKeyParts(fields, item)) faults.add(`[${index}].${name}`, 'required')
      return null
    }
    const read = readBodyKey(fields, item.key)
    if (read !== null && seen.has(read)) faults.add(`[${index}].${fields.at(-1)?.json}`, 'twice')
    if (read !== null) seen.add(read)
    return read
  })
  for (const [index, item] of items.entries()) if (item !== null) faults.checkVersion(item, index)
  faults.throwIfAny()
  const updates = await mapYielding(items, (item, index): UpdatePlan => {
    const { body = {} } = item ?? {}
    const value = keys[index] ?? null
    const match = item === null ? null : versionMatchOf(item)
    const update = planUpdate(resource, { key: value ?? '', match, body, names }, projection, instant, 'bulkUpdate')
    return value === null ? { ...update, identity: NEVER, where: NEVER } : update
  })
  const all = planUpdate(resource, { key: '', match: null, body: {}, names }, projection, instant, 'bulkUpdate')
  return {
    kind: 'bulkUpdate',
    items: updates,
    combined: { ...all, where: matchKeys(fields, [...seen]) },
  }
}

/** Returns the names of the key parts that an item lacks. */
function missingKeyParts(keys: KeyFields, { body }: BatchItem): readonly string[] {
  const hasPart = (name: string): boolean =>
    Object.hasOwn(body, name) && body[name] !== undefined && body[name] !== null
  return keys.flatMap(({ json }) => (hasPart(json) ? [] : [json]))
}

/** Returns the version of an item as an `If-Match` value. A number that is not a valid version matches no record. */
export function versionMatchOf({ version }: Pick<BatchItem, 'version'>): readonly string[] | null {
  if (version === undefined) return null
  return Number.isSafeInteger(version) && Number(version) >= 0 ? [String(version)] : []
}

/** Collects the errors of items before any record is read. */
export class ItemErrors {
  readonly #errors: Record<string, readonly string[]> = {}
  readonly #resource: Resource

  constructor(resource: Resource) {
    this.#resource = resource
  }

  add(name: string, code: 'object' | 'required' | 'twice' | 'number'): void {
    this.#errors[name] ??= [this.#resource.translate(createMessage(code))]
  }

  /** Adds error messages for a member. */
  addMessages(name: string, messages: readonly string[]): void {
    this.#errors[name] ??= messages
  }

  checkVersion({ version }: Pick<BatchItem, 'version'>, index: number): void {
    const { fields, version: attribute } = this.#resource
    if (version === undefined || typeof version === 'number') return
    this.add(`[${index}].${fields.find(({ name }) => name === attribute)?.json}`, 'number')
  }

  /** @throws Problem 400 if an item has an error */
  throwIfAny(): void {
    if (Object.keys(this.#errors).length > 0) throw problem('validation', { errors: this.#errors })
  }
}
