import type { Field } from '../../types/field.js'
import type { BulkCreatePlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { PlacedBody, Planned, Tie, Writes } from '../../types/work.js'
import { planKeyName } from '../common/keys.js'
import { assertWritable } from '../common/ties.js'
import { matchIn } from './members.js'
import { unowned } from './plans.js'
import type { Session } from './session.js'

/** Nested or linked records to write. */
export interface WriteTarget {
  /** Resource over the records. */
  readonly resource: Resource
  /** Foreign key binding that the request sets in new records. */
  readonly tie: Tie
  /** Foreign keys in new records, which the caller must be allowed to write. */
  readonly keys: readonly Field[]
  /** Whether responses omit the records. */
  readonly minimal: boolean
  /** Whether the bodies of the records may not contain nested records. */
  readonly isAlone: boolean
}

/** Plans writes of nested records. Each part is planned once, so that no policy is evaluated again within the transaction. */
export function writesOf(session: Session, target: WriteTarget): Writes {
  const { resource, minimal, isAlone } = target
  return {
    create: remembered(
      (all) => all.map(({ place }) => place).join(),
      (all) => created(session, target, all),
    ),
    update: remembered(
      ({ place }, key) => `${place} ${planKeyName(resource.keys, key)}`,
      async ({ body: sent, place }, key) => {
        await session.admit(resource, 'update')
        const body = sent ?? {}
        // The body contains the version, because a nested record has no entity tag.
        const intent = { kind: 'update', key: String(key), match: matchIn(resource, body), body, minimal } as const
        return session.part(resource, 'update', { operation: 'update', intent, places: [place], isAlone })
      },
    ),
    remove: remembered(JSON.stringify, async (keys) => {
      await session.admit(resource, 'delete')
      const part = { operation: 'delete', intent: { kind: 'bulkDelete', keys } } as const
      return session.part(resource, 'bulkDelete', isAlone ? { ...part, places: [] } : part)
    }),
    restore: remembered(String, async (key) => {
      await admitNew(session, target)
      const intent = { kind: 'restore', key: String(key), minimal } as const
      return session.part(resource, 'restore', { operation: 'create', intent, places: [], isAlone })
    }),
  }
}

/** Plans the creation of records. */
export async function created(
  session: Session,
  target: WriteTarget,
  all: readonly PlacedBody[],
): Promise<Planned<BulkCreatePlan>> {
  const { resource, tie, minimal, isAlone } = target
  if (all.length > 0) await admitNew(session, target)
  const bodies = all.map(({ body }) => body ?? {})
  const intent = { kind: 'bulkCreate', bodies, minimal, operation: 'create' } as const
  const places = all.map(({ place }) => place)
  const { caller, work } = await session.part(resource, 'bulkCreate', { operation: 'create', intent, places, isAlone })
  return { caller, work: { ...work, plan: unowned(resource, work.plan, tie) } }
}

async function admitNew(session: Session, { resource, keys }: WriteTarget): Promise<void> {
  assertWritable(resource, keys, session.caller)
  await session.admit(resource, 'create')
}

/** Memoizes a planning function by a name for its arguments. */
function remembered<A extends readonly unknown[], T>(
  nameOf: (...given: A) => string,
  plan: (...given: A) => Promise<T>,
): (...given: A) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (...given) => {
    const name = nameOf(...given)
    const answer = known.get(name) ?? plan(...given)
    known.set(name, answer)
    return answer
  }
}
