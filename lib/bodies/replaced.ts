import type { JsonValue } from '../../types/field.js'
import type { KeyValue } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Element, ReplacedBranch, Writes } from '../../types/work.js'
import { BodyErrors, refuse } from '../common/bodyErrors.js'
import { planKeyParts } from '../common/keys.js'
import { isRefusal } from '../common/problem.js'
import { WHOLE } from '../common/whole.js'
import { meetableOf } from '../plan/index.js'
import { elementsOf, heldBy } from './elements.js'
import { childrenOf } from './fresh.js'
import { choosesKeys } from './members.js'
import { keyOnly, withVersion } from './plans.js'
import type { Holding } from './relations.js'
import type { Session } from './session.js'
import { writesOf } from './writes.js'

/** A parent with its body. */
export interface Owner {
  readonly resource: Resource
  /** Null if the record does not exist, or if the key is not known yet. */
  readonly key: KeyValue | null
  readonly body: unknown
  /** Prefix for the member names of the body in errors. */
  readonly place: string
}

/** Plans the children that replace the children of an existing parent. @throws Problem 400, see `readElements` */
export async function replaced(session: Session, holding: Holding, owner: Owner): Promise<ReplacedBranch> {
  const { target, json, many, tie } = holding
  const known = knownOf(owner, tie)
  const { elements, faults } = readElements(holding, owner, known)
  const writes = writesOf(session, childrenOf(holding, session))
  await planAhead(writes, holding, elements, known)
  return {
    kind: 'replaced',
    json,
    many,
    resource: target,
    tie,
    faults,
    elements,
    guard: await meetableOf(target, session.callerOf(target, 'getList')),
    isChosen: choosesKeys(target, tie),
    spare: session.spare,
    overflow: () => session.overflow(),
    ...writes,
    show: (keys) => shown(session, target, keys),
  }
}

/** Value that children refer to. Undefined if it is not part of the parent's key. */
function knownOf({ resource: { keys }, key }: Owner, { source }: Holding['tie']): JsonValue | undefined {
  return key === null ? undefined : planKeyParts(keys, key)[keys.indexOf(source)]
}

/**
 * Reads the elements of a parent's body.
 *
 * @throws Problem 400 if the record or the version of an element is ambiguous
 */
export function readElements(
  holding: Holding,
  { body, place }: Pick<Owner, 'body' | 'place'>,
  owner: JsonValue | undefined,
): Pick<ReplacedBranch, 'elements' | 'faults'> {
  const errors = new BodyErrors()
  const unreadable = new BodyErrors()
  const held = heldBy(holding, body, place, errors) ?? []
  const elements = elementsOf(holding, held, owner, { errors, unreadable })
  refuse('validation', unreadable.all)
  return { elements, faults: errors.all }
}

/**
 * Plans the writes that depend on the body only, before the transaction starts. Policies may be slow and may use a connection of their own.
 * Writes with unknown keys are planned within the transaction.
 */
async function planAhead(
  writes: Writes,
  { target, many, tie }: Holding,
  elements: readonly Element[],
  owner: JsonValue | undefined,
): Promise<void> {
  const isOpen = choosesKeys(target, tie) || (owner === undefined && target.keys.includes(tie.key))
  for (const element of isOpen ? [] : elements) {
    const key = element.isKept ? null : element.keyOf(owner ?? null)
    if (key !== null && key !== undefined) await writes.update(element, key)
  }
  const fresh = many ? elements.filter(({ isNew }) => isNew) : []
  if (fresh.length > 0) await writes.create(fresh)
}

/** Plan that reads unchanged children for the response. A caller who may not read records by key gets the sent values only: key and version. */
async function shown(
  session: Session,
  target: Resource,
  keys: readonly KeyValue[],
): ReturnType<ReplacedBranch['show']> {
  const isReader = await session.admit(target, 'getById').then(
    () => true,
    (error: unknown) => {
      if (isRefusal(error)) return false
      throw error
    },
  )
  const intent = { kind: 'get', key: String(keys[0]), ...WHOLE } as const
  const { caller, work } = await session.part(target, 'get', { operation: 'getById', intent })
  if (isReader && !session.minimal) return { caller, work }
  return { caller, work: { ...work, plan: { ...work.plan, projection: withVersion(target, keyOnly(target)) } } }
}
