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

/** An owner, and what its body says. */
export interface Owner {
  readonly resource: Resource
  /** Null for that of no record, or of one that is not known yet. */
  readonly key: KeyValue | null
  readonly body: unknown
  /** What stands in front of the names of its members. */
  readonly place: string
}

/** The records that an existing owner gets in place of those that it has. @throws Problem 400 as `readElements` does */
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

/** The value that children refer to; undefined if it is not the owner's key. */
function knownOf({ resource: { keys }, key }: Owner, { source }: Holding['tie']): JsonValue | undefined {
  return key === null ? undefined : planKeyParts(keys, key)[keys.indexOf(source)]
}

/**
 * Reads the elements of an owner's body.
 *
 * @throws Problem 400 where there is no telling which record is meant, or which version of it
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
 * Plans what the body alone tells of: who is asked for it may take his time, and a connection of his own, before there is a
 * transaction. Whether the rest is new, and keys that contain an unknown owner, are known within it.
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

/** Who may not read records by their keys is shown of those that stay what was sent: the key and the version. */
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
