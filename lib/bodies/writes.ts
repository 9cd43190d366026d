import type { Field } from '../../types/field.js'
import type { BulkCreatePlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { ChildWrites, ForeignKeyBinding, PlacedBody, PlannedPart } from '../../types/work.js'
import { assertKeysWritable } from '../common/foreignKeyBinding.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { planKeyText } from '../common/keys.js'
import { readBodyMatch } from './members.js'
import { omitParentErrors } from './plans.js'
import type { Session } from './session.js'

/** The resource and the settings for writes of nested or linked records. */
export interface WriteTarget {
  /** The resource over the records. */
  readonly resource: Resource
  /** The foreign key binding that the request sets in new records. */
  readonly binding: ForeignKeyBinding
  /** The foreign keys in new records, which the caller must be allowed to write. */
  readonly keys: readonly Field[]
  /** Whether responses omit the records. */
  readonly minimal: boolean
  /** Whether the bodies of the records may not contain nested records. */
  readonly isFlat: boolean
}

/**
 * Creates the planner for writes of nested records. Each part is planned once, so that no policy is evaluated again
 * within the transaction.
 */
export function createWrites(session: Session, target: WriteTarget): ChildWrites {
  const { resource, minimal, isFlat } = target
  return {
    create: memoizeByName(
      (all) => all.map(({ place }) => place).join(),
      (all) => planInserts(session, target, all),
    ),
    update: memoizeByName(
      ({ place }, key) => `${place} ${planKeyText(resource.keys, key)}`,
      async ({ body: given, place }, key) => {
        await session.admit(resource, 'update')
        const body = given ?? {}
        // The body contains the version, because a nested record has no entity tag.
        const intent = {
          kind: 'update',
          key: String(key),
          match: readBodyMatch(resource, body),
          body,
          minimal,
        } as const
        return session.planPart(resource, 'update', { operation: 'update', intent, places: [place], isFlat })
      },
    ),
    remove: memoizeByName(JSON.stringify, async (keys) => {
      await session.admit(resource, 'delete')
      const part = { operation: 'delete', intent: { kind: 'bulkDelete', keys } } as const
      return session.planPart(resource, 'bulkDelete', isFlat ? { ...part, places: [] } : part)
    }),
    restore: memoizeByName(String, async (key) => {
      await admitCreation(session, target)
      const intent = { kind: 'restore', key: String(key), minimal } as const
      return session.planPart(resource, 'restore', { operation: 'create', intent, places: [], isFlat })
    }),
  }
}

/** Plans the creation of records. */
export async function planInserts(
  session: Session,
  target: WriteTarget,
  all: readonly PlacedBody[],
): Promise<PlannedPart<BulkCreatePlan>> {
  const { resource, binding, minimal, isFlat } = target
  if (all.length > 0) await admitCreation(session, target)
  const bodies = all.map(({ body }) => body ?? {})
  const intent = { kind: 'bulkCreate', bodies, minimal, operation: 'create' } as const
  const places = all.map(({ place }) => place)
  const { caller, work } = await session.planPart(resource, 'bulkCreate', {
    operation: 'create',
    intent,
    places,
    isFlat,
  })
  return { caller, work: { ...work, plan: omitParentErrors(resource, work.plan, binding) } }
}

async function admitCreation(session: Session, { resource, keys }: WriteTarget): Promise<void> {
  assertKeysWritable(resource, keys, session.caller)
  await session.admit(resource, 'create')
}

/** Memoizes a planning function by a text that identifies its arguments. */
function memoizeByName<A extends readonly unknown[], T>(
  nameOf: (...given: A) => string,
  plan: (...given: A) => Promise<T>,
): (...given: A) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (...given) => getOrCreate(known, nameOf(...given), () => plan(...given))
}
