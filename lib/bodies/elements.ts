import type { Field } from '../../types/field.js'
import type { KeyValue } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Element } from '../../types/work.js'
import { type BodyErrors, errorsAt } from '../common/bodyErrors.js'
import { keyOfStated } from '../common/keys.js'
import { isObject } from '../common/object.js'
import { readKeyOf, readStatedKey } from '../plan/index.js'
import { type Body, isKept, keyPartsOf, memberOf, namesRecord, versionOf } from './members.js'
import type { Holding } from './relations.js'
import { type End, withoutEnds } from './stated.js'

/** A nested record of a body, with its place in the body. */
export interface Placed {
  readonly body: Body
  readonly place: string
}

/** Nested records of a parent's body for a relation. Null if the body contains null, undefined if the body omits the relation. */
export function heldBy(
  { json, many, target }: Holding,
  body: unknown,
  place: string,
  errors: BodyErrors,
): readonly Placed[] | null | undefined {
  const value = memberOf(body, json)
  if (value === undefined) return undefined
  const at = place + json
  if (value === null) {
    if (many) errors.add(errorsAt(target, [at], 'null'))
    return null
  }
  if (many && !Array.isArray(value)) errors.add(errorsAt(target, [at], 'array'))
  const all: readonly unknown[] = many ? (Array.isArray(value) ? value : []) : [value]
  return all.flatMap((each, index) => {
    const here = many ? `${at}[${index}]` : at
    if (isObject(each)) return [{ body: each, place: here }]
    errors.add(errorsAt(target, [here], 'object'))
    return []
  })
}

/** Attributes of children that the parent sets. `owner` is the value of the parent's key. Undefined if only the database knows the value. */
export function endsOf({ tie }: Holding, owner: unknown): readonly End[] {
  return [
    { field: tie.key, code: 'owner', value: owner },
    ...[...tie.fixed].map(([field, value]): End => ({ field, code: 'owner', value, isExact: true })),
  ]
}

/**
 * Parses the elements that replace a parent's children. `owner` is undefined if only the database knows the value that children refer to;
 * then foreign keys and texts in elements are compared later. `unreadable` collects errors of elements whose record or version is
 * ambiguous.
 */
export function elementsOf(
  holding: Holding,
  held: readonly Placed[],
  owner: unknown,
  { errors, unreadable }: { readonly errors: BodyErrors; readonly unreadable: BodyErrors },
): readonly Element[] {
  const { target } = holding
  const version = versionOf(target)?.json
  const ends = endsOf(holding, owner)
  const seen = new Set<string>()
  return held.map((each): Element => {
    const { body, wrong, stated } = withoutEnds(target, each.body, ends, `${each.place}.`)
    errors.add(wrong)
    const name = nameIn(holding, body)
    if (name !== null && seen.has(name))
      unreadable.add(errorsAt(target, [`${each.place}.${target.keys.at(-1)?.json}`], 'twice'))
    if (name !== null) seen.add(name)
    const told = version === undefined ? undefined : memberOf(body, version)
    if (told !== undefined && typeof told !== 'number')
      unreadable.add(errorsAt(target, [`${each.place}.${version}`], 'number'))
    const isNew = !namesRecord(holding, body)
    return {
      place: each.place,
      keyOf: (value) => {
        const parts = keyPartsOf(holding, body, value)
        return parts === null ? null : keyIn(target, parts)
      },
      isNew,
      isKept: !isNew && isKept(target, body),
      stated,
      body,
    }
  })
}

/** Name that distinguishes an element from its siblings. Null for an element without a key. */
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
