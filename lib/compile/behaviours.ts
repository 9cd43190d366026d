import type { Behaviour, Behaviours, Reachable } from '../../types/behaviour.js'
import type { Plan, Predicate } from '../../types/plan.js'
import { both } from '../behaviour/predicates.js'

/** Folds the behaviours that a resource uses, in their order, into one function a hook, or null where none has it. */
export function fold(behaviours: readonly Behaviour[]): Behaviours {
  const admits = each(behaviours, ({ admit }) => admit)
  const accepts = each(behaviours, ({ accept }) => accept)
  const amends = each(behaviours, ({ amend }) => amend)
  const readables = each(behaviours, ({ readable }) => readable)
  const reaches = each(behaviours, ({ reach }) => reach)
  const confines = each(behaviours, ({ confine }) => confine)
  const standings = each(behaviours, ({ standing }) => standing)
  const inTurns = each(behaviours, ({ inTurn }) => inTurn)
  const announces = each(behaviours, ({ announce }) => announce)
  const recordHeaders = each(behaviours, (behaviour) => behaviour.recordHeaders)
  return Object.freeze<Behaviours>({
    admit: admits && (async (...given) => forEach(admits, (admit) => admit(...given))),
    accept:
      accepts && ((resource, intent, caller) => reduce(accepts, intent, (accept, so) => accept(resource, so, caller))),
    amend: amends && ((resource, plan, caller) => reduce(amends, plan, (amend, so) => amend(resource, so, caller))),
    readable: readables && ((field, caller) => readables.every((readable) => readable(field, caller))),
    reach:
      reaches &&
      ((resource, caller) =>
        reachBy(
          reaches.map((reach) => () => reach(resource, caller)),
          null,
        )),
    guarded: behaviours.flatMap(({ guarded }) => guarded ?? []),
    permissions: [...new Set(behaviours.flatMap(({ permissions }) => permissions ?? []))].sort(),
    confine: confines && (async (...given) => (await Promise.all(confines.map((confine) => confine(...given)))).flat()),
    standing:
      standings &&
      ((resource) => standings.map((standing) => standing(resource)).reduce((all, each) => both(all, each))),
    headers: Object.assign({}, ...behaviours.map(({ headers }) => headers ?? {})),
    recordHeaders:
      recordHeaders && ((plan, row) => Object.assign({}, ...recordHeaders.map((headers) => headers(plan, row)))),
    inTurn:
      inTurns &&
      (<T>(plan: Plan, write: () => Promise<T>) =>
        inTurns.reduce<() => Promise<T>>((next, inTurn) => () => inTurn(plan, next), write)()),
    announce:
      announces &&
      ((...given) => {
        for (const announce of announces) announce(...given)
      }),
  })
}

/** What all of them leave to be met. The first that leaves nothing ends it; who waits for none answers at once. */
function reachBy(asks: readonly (() => Reachable | Promise<Reachable>)[], where: Predicate | null): Answer {
  const [ask, ...others] = asks
  if (ask === undefined) return where
  const go = (answer: Reachable): Answer => (answer === false ? false : reachBy(others, both(where, answer)))
  const answer = ask()
  return answer instanceof Promise ? answer.then(go) : go(answer)
}

type Answer = Reachable | Promise<Reachable>

/** What of a hook's functions there is, or null. */
function each<T>(behaviours: readonly Behaviour[], hook: (behaviour: Behaviour) => T | undefined): readonly T[] | null {
  const found = behaviours.map(hook).filter((value) => value !== undefined)
  return found.length === 0 ? null : found
}

async function forEach<T>(functions: readonly T[], call: (each: T) => void | Promise<void>): Promise<void> {
  for (const each of functions) await call(each)
}

async function reduce<T, V>(
  functions: readonly T[],
  start: V,
  call: (each: T, value: V) => V | Promise<V>,
): Promise<V> {
  let value = start
  for (const each of functions) value = await call(each, value)
  return value
}
