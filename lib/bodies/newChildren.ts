import type { JsonValue } from '../../types/field.js'
import type { ChildInserts } from '../../types/work.js'
import { BodyErrors } from '../common/bodyErrors.js'
import { removeConnectingAttributes } from './connectingAttributes.js'
import { connectingAttributesOf, createRepeatedKeyCheck, type NestedBody, readNestedBodies } from './elements.js'
import { hasClientKeys, memberOf } from './members.js'
import type { NestedRelation } from './relations.js'
import type { Session } from './session.js'
import { planInserts, type WriteTarget } from './writes.js'

/** The bodies of new parents. */
interface NewParents {
  readonly bodies: readonly unknown[]
  /** Returns the prefix for the member names of a body in errors. */
  readonly prefixOf: (index: number) => string
  /** The value that children refer to, if it is known without the bodies. */
  readonly key: JsonValue | undefined
}

/** Plans the children of new parents. */
export async function planNewChildren(
  session: Session,
  relation: NestedRelation,
  { bodies: parents, prefixOf, key: known }: NewParents,
): Promise<ChildInserts> {
  const { target, json, many, binding } = relation
  const errors = new BodyErrors()
  const all: NestedBody[] = []
  // Keys that clients do not choose are ignored.
  const isKeyed = hasClientKeys(target, binding)
  const groups = parents.map((parent, index) => {
    const bodies = readNestedBodies(relation, parent, prefixOf(index), errors)
    if (bodies === null || bodies === undefined) return bodies
    // The key of a new parent is known only if the path or its body contains the key.
    const stated = binding.source.targets.has('create') ? memberOf(parent, binding.source.json) : undefined
    const ends = connectingAttributesOf(relation, known ?? stated).map((end) => ({ ...end, isExact: true }))
    const addRepeatedKey = isKeyed ? createRepeatedKeyCheck(relation, errors) : null
    return bodies.map(({ body: given, place }) => {
      const { body, wrong } = removeConnectingAttributes(target, given, ends, `${place}.`)
      errors.add(wrong)
      const element = { body, place }
      addRepeatedKey?.(element)
      return all.push(element) - 1
    })
  })
  const { work, caller } = await planInserts(session, createChildTarget(relation, session), all)
  return { kind: 'new', json, many, resource: target, binding, errors: errors.all, caller, work, groups }
}

/** Returns the write target for the children of a relation. */
export function createChildTarget({ target, binding }: NestedRelation, { minimal }: Session): WriteTarget {
  return { resource: target, binding, keys: [binding.key], minimal, isFlat: false }
}
