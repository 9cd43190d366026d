import type { Field } from '../../types/field.js'
import type { KeyValue } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { BodyElement } from '../../types/work.js'
import { type BodyErrors, errorsAt } from '../common/bodyErrors.js'
import { keyOfBodyParts } from '../common/keys.js'
import { createMessage } from '../common/messages.js'
import { normalizeName } from '../common/normalizedName.js'
import { isObject } from '../common/object.js'
import type { ProblemErrors } from '../common/problem.js'
import { readBodyKey, readKeyParts } from '../plan/index.js'
import { type ConnectingAttribute, removeConnectingAttributes } from './connectingAttributes.js'
import { type Body, hasElementKey, isUnchanged, memberOf, readElementKey } from './members.js'
import type { NestedRelation } from './relations.js'

/** A nested record of a body, with its place in the body. */
export interface NestedBody {
  readonly body: Body
  readonly place: string
}

/**
 * Reads the nested records of a parent's body for a relation. Null if the body contains null, undefined if the body
 * omits the relation.
 */
export function readNestedBodies(
  { json, many, target }: NestedRelation,
  body: unknown,
  place: string,
  errors: BodyErrors,
): readonly NestedBody[] | null | undefined {
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

/**
 * Returns the children's attributes that the parent sets. `parentKey` is the value of the parent's key; undefined if only
 * the database knows it.
 */
export function connectingAttributesOf(
  { binding }: NestedRelation,
  parentKey: unknown,
): readonly ConnectingAttribute[] {
  return [
    { field: binding.key, code: 'owner', value: parentKey },
    ...[...binding.fixed].map(
      ([field, value]): ConnectingAttribute => ({ field, code: 'owner', value, isExact: true }),
    ),
  ]
}

/**
 * Parses the elements that replace a parent's children. `parentKey` is the value that children refer to. It is undefined if
 * only the database knows the value; foreign keys and texts in elements are compared later in that case. `ambiguous`
 * collects errors of elements whose record or version is ambiguous.
 */
export function parseElements(
  relation: NestedRelation,
  bodies: readonly NestedBody[],
  parentKey: unknown,
  { errors, ambiguous }: { readonly errors: BodyErrors; readonly ambiguous: BodyErrors },
): readonly BodyElement[] {
  const { target } = relation
  const version = target.versionField?.json
  const ends = connectingAttributesOf(relation, parentKey)
  const addRepeatedKey = createRepeatedKeyCheck(relation, ambiguous)
  return bodies.map((each): BodyElement => {
    const { body, wrong, stated } = removeConnectingAttributes(target, each.body, ends, `${each.place}.`)
    errors.add(wrong)
    addRepeatedKey({ body, place: each.place })
    const given = version === undefined ? undefined : memberOf(body, version)
    if (given !== undefined && typeof given !== 'number')
      ambiguous.add(errorsAt(target, [`${each.place}.${version}`], 'number'))
    const isNew = !hasElementKey(relation, body)
    if (isNew) errors.add(misspeltKeysOf(target, body), `${each.place}.`)
    return {
      place: each.place,
      keyOf: (value) => {
        const parts = readElementKey(relation, body, value)
        return parts === null ? null : combineKeyParts(target, parts)
      },
      isNew,
      isUnchanged: !isNew && isUnchanged(target, body),
      bodyKeys: stated,
      body,
    }
  })
}

/** Returns a function that adds an error for an element if an earlier element has the same key. */
export function createRepeatedKeyCheck(relation: NestedRelation, errors: BodyErrors): (element: NestedBody) => void {
  const { target } = relation
  const seen = new Set<string>()
  return ({ body, place }) => {
    const key = elementKeyText(relation, body)
    if (key === null) return
    if (seen.has(key)) errors.add(errorsAt(target, [`${place}.${target.keys.at(-1)?.json}`], 'twice'))
    seen.add(key)
  }
}

/** Returns the errors of misspelt keys. The validators of bodies report only keys that clients choose. */
function misspeltKeysOf({ keys, fields, translate }: Resource, body: Body): ProblemErrors {
  return Object.fromEntries(
    Object.keys(body).flatMap((name) => {
      const word = normalizeName(name)
      const key = keys.find(({ json }) => normalizeName(json) === word)
      if (key === undefined || fields.some(({ json }) => json === name)) return []
      return [[name, [translate(createMessage('misspelt-property', { name: key.json }))]]]
    }),
  )
}

/** Returns a text that distinguishes an element from its siblings; null for an element without a key. */
function elementKeyText(relation: NestedRelation, body: Body): string | null {
  const { keys } = relation.target
  const parts = readElementKey(relation, body, null)
  if (parts === null) return null
  const read = parts.map((part, index) => parseKeyPart(keys[index], part))
  return read.includes(undefined) ? null : JSON.stringify(read)
}

function parseKeyPart(field: Field | undefined, part: unknown): KeyValue | null | undefined {
  if (part === null) return null
  return field === undefined ? undefined : (readBodyKey([field], part) ?? undefined)
}

function combineKeyParts({ keys }: Resource, parts: readonly unknown[]): KeyValue | undefined {
  const text = keyOfBodyParts(keys, parts)
  return (text === undefined ? null : readKeyParts(keys, String(text))) ?? undefined
}
