import type { GetPlan, KeyValue, Predicate } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { LinkedBranch, Tie, Wanted } from '../../types/work.js'
import { meetableOf } from '../bind/index.js'
import { BodyErrors, errorsAt } from '../common/bodyErrors.js'
import { fieldNamed, ofOwn } from '../common/columns.js'
import { both, confined } from '../common/predicates.js'
import { readStatedKey } from '../plan/index.js'
import { type Body, matchIn, memberOf } from './members.js'
import { unexpected, unowned } from './plans.js'
import type { Linking } from './relations.js'
import type { Session } from './session.js'

/** A key as a client has written it. */
export function wantedBy({ keys }: Resource, key: unknown, place: string, body: Body | null = null): Wanted {
  return { place, key: readStatedKey(keys, key) ?? undefined, body }
}

/** What the keys in bodies link their records to: with `set`, of a record that is there already, they are all. */
export function linked(
  session: Session,
  linking: Linking,
  mode: 'set' | 'add',
  { bodies, at }: { readonly bodies: readonly unknown[]; readonly at: (index: number) => string },
): Promise<LinkedBranch> {
  const { json, target } = linking
  const errors = new BodyErrors()
  const groups = bodies.map((body, index) => {
    const value = memberOf(body, json)
    if (value === undefined) return undefined
    const place = at(index) + json
    if (Array.isArray(value)) return value.map((key: unknown, nth) => wantedBy(target, key, `${place}[${nth}]`))
    errors.add(errorsAt(target, [place], value === null ? 'null' : 'array'))
    return []
  })
  return linkedBranch(session, linking, { mode, isOne: false, groups, faults: errors.all })
}

type Change = Pick<LinkedBranch, 'mode' | 'isOne' | 'groups' | 'faults'>

/** What becomes of links, with those who are asked on the way. The caller has been let in to read records by their keys. */
export async function linkedBranch(session: Session, linking: Linking, change: Change): Promise<LinkedBranch> {
  const { json, target, between: resource, tie, key, points, isUnique } = linking
  const isAlone = true
  const admitNew = async (): Promise<void> => {
    session.assertWritable(resource, [tie.key, key])
    await session.admit(resource, 'create')
  }
  return {
    kind: 'linked',
    json,
    resource: target,
    tie,
    ...change,
    between: resource,
    key,
    target: points,
    isUnique,
    meetable: await meetable(session, linking),
    guard: await meetableOf(resource, session.callerOf(resource, 'getList')),
    create: remembered(placesOf, async (wanted: readonly Wanted[]) => {
      await admitNew()
      const bodies = wanted.map(({ body }) => body ?? {})
      const intent = { kind: 'bulkCreate', bodies, minimal: true, operation: 'create' } as const
      const places = wanted.map(({ place }) => place)
      const part = await session.part(resource, 'bulkCreate', { operation: 'create', intent, places, isAlone })
      const set: Tie = { ...tie, fixed: new Map([...tie.fixed, [key, null]]) }
      return { ...part, work: { ...part.work, plan: unowned(resource, part.work.plan, set) } }
    }),
    remove: remembered(JSON.stringify, async (keys: readonly KeyValue[]) => {
      await session.admit(resource, 'delete')
      const intent = { kind: 'bulkDelete', keys } as const
      return session.part(resource, 'bulkDelete', { operation: 'delete', intent, places: [], isAlone })
    }),
    restore: remembered(String, async (of: KeyValue) => {
      await admitNew()
      const intent = { kind: 'restore', key: String(of), minimal: true } as const
      return session.part(resource, 'restore', { operation: 'create', intent, places: [], isAlone })
    }),
    update: remembered(placeOf, async ({ body, place }: Wanted, of: KeyValue) => {
      await session.admit(resource, 'update')
      // The version of the row is in the body, since no tag has it.
      const own = body ?? {}
      const intent = {
        kind: 'update',
        key: String(of),
        match: matchIn(resource, own),
        body: own,
        minimal: true,
      } as const
      return session.part(resource, 'update', { operation: 'update', intent, places: [place], isAlone })
    }),
  }
}

function placesOf(wanted: readonly Wanted[]): string {
  return wanted.map(({ place }) => place).join()
}

function placeOf({ place }: Wanted, key: KeyValue): string {
  return `${place} ${key}`
}

/** The same answer to whoever asks for the same again: what may be asked before there is a transaction is asked once. */
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

/** What the target's records meet that the caller could read by their keys, and that are the relation's. */
async function meetable(session: Session, { target, relation: { ends } }: Linking): Promise<Predicate> {
  const caller = session.callerOf(target, 'getById')
  const fixed = [...ends.fixed()].map(([name, value]) => [fieldNamed(target.fields, name), value] as const)
  const where = both({ kind: 'always' }, confined(fixed))
  const wanted: GetPlan = { kind: 'get', where, projection: ofOwn(target.keys) }
  const plan = (await target.behaviours.amend?.(target, wanted, caller)) ?? wanted
  if (plan.kind !== 'get') throw unexpected(target, plan)
  return plan.where
}
