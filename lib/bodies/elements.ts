import type { Field } from '../../types/field.js'
import type { KeyValue } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Element, Faults } from '../../types/work.js'
import { keyOfStated } from '../common/keys.js'
import { fault } from '../common/messages.js'
import { isObject } from '../common/object.js'
import { problem } from '../common/problem.js'
import { readKeyOf, readStatedKey } from '../plan/index.js'
import {
  type Body,
  type Holding,
  isKept,
  keyPartsOf,
  memberOf,
  namesRecord,
  versionNameOf,
  without,
} from './holdings.js'

type Complaint = 'array' | 'object' | 'null' | 'owner' | 'twice' | 'number'

/** What is wrong with the form of what bodies hold, by place. */
export class Complaints {
  readonly #errors: Record<string, readonly string[]> = {}
  readonly #unreadable: Record<string, readonly string[]> = {}
  readonly #tell: Resource['tell']

  constructor({ tell }: Resource) {
    this.#tell = tell
  }

  add(place: string, code: Complaint): void {
    this.#errors[place] ??= [this.#tell(fault(code))]
  }

  /** The same of what leaves no telling which record is meant, or which version of it. */
  unreadable(place: string, code: Complaint): void {
    this.#unreadable[place] ??= [this.#tell(fault(code))]
  }

  /** @throws Problem 400 before any record is looked at */
  throwIfUnreadable(): void {
    if (Object.keys(this.#unreadable).length > 0) throw problem('validation', { errors: this.#unreadable })
  }

  get errors(): Faults {
    return this.#errors
  }
}

/** What an owner's body holds of a relation: the elements with their places; null for none, undefined for not a word. */
export function heldBy(
  { json, many }: Holding,
  body: unknown,
  place: string,
  complaints: Complaints,
): readonly { readonly body: Body; readonly place: string }[] | null | undefined {
  const value = memberOf(body, json)
  if (value === undefined) return undefined
  const at = place + json
  if (value === null) {
    if (many) complaints.add(at, 'null')
    return null
  }
  if (many && !Array.isArray(value)) complaints.add(at, 'array')
  const all: readonly unknown[] = many ? (Array.isArray(value) ? value : []) : [value]
  return all.flatMap((each, index) => {
    const here = many ? `${at}[${index}]` : at
    if (isObject(each)) return [{ body: each, place: here }]
    complaints.add(here, 'object')
    return []
  })
}

/**
 * An element's body as its own resource reads it: without what the owner sets. The owner's own key is taken, so that what
 * was read can be sent back. `owner` is undefined where the owner has none yet.
 */
export function disowned(
  { tie, target }: Holding,
  { body, place }: { readonly body: Body; readonly place: string },
  owner: unknown,
  complaints: Complaints,
): Body {
  const set = [[tie.key, owner] as const, ...tie.fixed]
  const named = set.filter(([field]) => isNamed(target, field))
  for (const [{ json }, value] of named) {
    const stated = memberOf(body, json)
    if (stated !== undefined && stated !== value) complaints.add(`${place}.${json}`, 'owner')
  }
  return without(body, new Set(named.map(([{ json }]) => json)))
}

/**
 * The elements that replace what an owner has. `owner` is undefined where only the database tells what points at it. What
 * elements state of that, or of a text, is compared later.
 */
export function elementsOf(
  holding: Holding,
  held: readonly { readonly body: Body; readonly place: string }[],
  owner: unknown,
  complaints: Complaints,
): readonly Element[] {
  const { target, tie } = holding
  const version = versionNameOf(target)
  const seen = new Set<string>()
  return held.map((each): Element => {
    const { json, valueType } = tie.key
    // Of texts the database may take others for equal.
    const isOpen = owner === undefined || valueType.type === 'string'
    const stated = isOpen && isNamed(target, tie.key) ? memberOf(each.body, json) : undefined
    const body = disowned(holding, each, stated ?? owner, complaints)
    const name = nameIn(holding, body)
    if (name !== null && seen.has(name)) complaints.unreadable(`${each.place}.${target.keys.at(-1)?.json}`, 'twice')
    if (name !== null) seen.add(name)
    const told = version === undefined ? undefined : memberOf(body, version)
    if (told !== undefined && typeof told !== 'number') complaints.unreadable(`${each.place}.${version}`, 'number')
    const isNew = !namesRecord(holding, body)
    return {
      place: each.place,
      keyOf: (value) => {
        const parts = keyPartsOf(holding, body, value)
        return parts === null ? null : keyIn(target, parts)
      },
      isNew,
      isKept: !isNew && isKept(target, body),
      stated: stated === undefined ? null : { place: `${each.place}.${json}`, value: stated },
      body,
    }
  })
}

/** Whether the name of a field in bodies is its own: an excluded attribute's may be that of another field. */
function isNamed({ byName }: Resource, field: Field): boolean {
  return byName.get(field.json.toLowerCase()) === field
}

/** What tells an element from others of the same owner; null for one that names no record. */
function nameIn(holding: Holding, body: Body): string | null {
  const { keys } = holding.target
  const parts = keyPartsOf(holding, body, null)
  if (parts === null) return null
  const read = parts.map((part, index) => readPart(keys[index], part))
  return read.includes(undefined) ? null : JSON.stringify(read)
}

function readPart(field: Field | undefined, part: unknown): KeyValue | null | undefined {
  if (part === null) return null
  if (typeof part === 'boolean') return field?.valueType.type === 'boolean' ? String(part) : undefined
  return field === undefined ? undefined : (readStatedKey([field], part) ?? undefined)
}

function keyIn({ keys }: Resource, parts: readonly unknown[]): KeyValue | undefined {
  const text = keyOfStated(keys, parts)
  return (text === undefined ? null : readKeyOf(keys, String(text))) ?? undefined
}
