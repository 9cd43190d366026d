import type { KeyValue } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { NestedWrite } from '../../types/work.js'
import { planLinks } from './links.js'
import { planNewChildren } from './newChildren.js'
import type { BodyRelations } from './relations.js'
import { knownKeyOf, planChildReplacement } from './replacedChildren.js'
import type { Session } from './session.js'

/** Parent records whose bodies contain nested records. */
interface ParentBodies {
  readonly resource: Resource
  /** The key of the only existing parent; null if the key is unknown. Undefined for new records. */
  readonly key: KeyValue | null | undefined
  /** The key of the only new parent, if the path states it. */
  readonly newKey?: KeyValue | undefined
  readonly bodies: readonly unknown[]
  /** Returns the prefix for the member names of a body in errors. */
  readonly prefixOf: (index: number) => string
}

/** Plans the nested writes of the relations that the bodies name. */
export async function planNestedWrites(
  session: Session,
  { nested, linked }: BodyRelations,
  { resource, key, newKey, bodies, prefixOf }: ParentBodies,
): Promise<readonly NestedWrite[]> {
  const nestedWrites: NestedWrite[] = []
  const { ownKey } = resource.behaviours
  const isOwn = key === undefined && ownKey !== null
  const stated = newKey ?? (isOwn ? await ownKey(resource, session.callerOf(resource, 'create')) : null)
  for (const relation of nested) {
    nestedWrites.push(
      key === undefined
        ? await planNewChildren(session, relation, {
            bodies,
            prefixOf,
            key: knownKeyOf({ resource, key: stated }, relation.binding),
          })
        : await planChildReplacement(session, relation, { resource, key, body: bodies[0], place: prefixOf(0) }),
    )
  }
  const mode = key === undefined ? 'add' : 'set'
  for (const linking of linked) nestedWrites.push(await planLinks(session, linking, mode, { bodies, at: prefixOf }))
  return nestedWrites
}
