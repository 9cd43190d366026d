import type { JsonValue } from '../../types/field.js'
import type { KeyValue } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { BodyElement, ChildReplacement, ChildWrites } from '../../types/work.js'
import { BodyErrors, refuse } from '../common/bodyErrors.js'
import { planKeyParts } from '../common/keys.js'
import { isRefusal } from '../common/problem.js'
import { WHOLE_RECORD } from '../common/wholeRecord.js'
import { referableRecordsOf } from '../plan/index.js'
import { parseElements, readNestedBodies } from './elements.js'
import { hasClientKeys } from './members.js'
import { createChildTarget } from './newChildren.js'
import { addVersion, keyProjection } from './plans.js'
import type { NestedRelation } from './relations.js'
import type { Session } from './session.js'
import { createWrites } from './writes.js'

/** A parent with its body. */
export interface ParentBody {
  readonly resource: Resource
  /** The parent's key; null if the record does not exist, or if its key is not known yet. */
  readonly key: KeyValue | null
  readonly body: unknown
  /** The prefix for the member names of the body in errors. */
  readonly place: string
}

/**
 * Plans the replacement of an existing parent's children by the elements of its body. @throws Problem 400 like
 * `readElements`
 */
export async function planChildReplacement(
  session: Session,
  relation: NestedRelation,
  parent: ParentBody,
): Promise<ChildReplacement> {
  const { target, json, many, binding } = relation
  const known = knownKeyOf(parent, binding)
  const { elements, errors } = readElements(relation, parent, known)
  const writes = createWrites(session, createChildTarget(relation, session))
  await planWithoutRecords(writes, relation, elements, known)
  return {
    kind: 'replaced',
    json,
    place: parent.place + json,
    many,
    resource: target,
    binding,
    errors,
    elements,
    condition: await referableRecordsOf(target, session.callerOf(target, 'getList')),
    hasClientKeys: hasClientKeys(target, binding),
    remainingDeletes: session.remainingRecords,
    createLimitError: () => session.createLimitError(),
    ...writes,
    planRead: (keys) => planUnchangedRead(session, target, keys),
  }
}

/** Returns the value that children refer to; undefined if the value is not part of the parent's key. */
export function knownKeyOf(
  { resource: { keys }, key }: Pick<ParentBody, 'resource' | 'key'>,
  { source }: NestedRelation['binding'],
): JsonValue | undefined {
  return key === null ? undefined : planKeyParts(keys, key)[keys.indexOf(source)]
}

/**
 * Reads the elements of a parent's body.
 *
 * @throws Problem 400 if the record or the version of an element is ambiguous
 */
export function readElements(
  relation: NestedRelation,
  { body, place }: Pick<ParentBody, 'body' | 'place'>,
  parentKey: JsonValue | undefined,
): Pick<ChildReplacement, 'elements' | 'errors'> {
  const errors = new BodyErrors()
  const ambiguous = new BodyErrors()
  const bodies = readNestedBodies(relation, body, place, errors) ?? []
  const elements = parseElements(relation, bodies, parentKey, { errors, ambiguous })
  refuse('validation', ambiguous.all)
  return { elements, errors: errors.all }
}

/**
 * Plans the writes that depend on the body only, before the transaction starts. Policies may be slow, and may use a
 * connection of their own. Writes with unknown keys are planned within the transaction.
 */
async function planWithoutRecords(
  writes: ChildWrites,
  { target, many, binding }: NestedRelation,
  elements: readonly BodyElement[],
  parentKey: JsonValue | undefined,
): Promise<void> {
  const isOpen = hasClientKeys(target, binding) || (parentKey === undefined && target.keys.includes(binding.key))
  for (const element of isOpen ? [] : elements) {
    const key = element.isUnchanged ? null : element.keyOf(parentKey ?? null)
    if (key !== null && key !== undefined) await writes.update(element, key)
  }
  const added = many ? elements.filter(({ isNew }) => isNew) : []
  if (added.length > 0) await writes.create(added)
}

/**
 * Plans the read of unchanged children for the response. A caller who may not read records by key gets only the sent
 * values: key and version.
 */
async function planUnchangedRead(
  session: Session,
  target: Resource,
  keys: readonly KeyValue[],
): ReturnType<ChildReplacement['planRead']> {
  const isReader = await session.admit(target, 'getById').then(
    () => true,
    (error: unknown) => {
      if (isRefusal(error)) return false
      throw error
    },
  )
  const intent = { kind: 'get', key: String(keys[0]), ...WHOLE_RECORD } as const
  const { caller, work } = await session.planPart(target, 'get', { operation: 'getById', intent })
  if (isReader && !session.minimal) return { caller, work }
  const projection = addVersion(target, keyProjection(target), caller)
  return { caller, work: { ...work, plan: { ...work.plan, projection } } }
}
