import type { Bound } from '../../types/bound.js'
import type { Changes, Invalid } from '../../types/changes.js'
import type { Caller, KeyValue, Plan, Projection, Upkeep } from '../../types/plan.js'
import type { Resource, Validation } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { problem } from '../common/problem.js'
import { byKey, distinctKeys, readKey } from './key.js'
import { planList } from './list.js'
import { fullProjection } from './projection.js'

/**
 * What a bound intent means for this resource and caller.
 *
 * @throws Problem for what means nothing here: unknown fields, values of the wrong type, keys that cannot be keys
 */
export function plan(resource: Resource, bound: Bound, view: View, { instant }: Pick<Caller, 'instant'>): Plan {
  if (bound.kind === 'list') return planList(resource, bound, view)
  const { intent, flattened } = bound
  const response = (): Projection => fullProjection(resource, 'response', view, flattened)
  switch (intent.kind) {
    case 'get':
      return { kind: 'get', where: byKey(resource.key, [keyOf(resource, intent.key)]), projection: response() }
    case 'create':
      return {
        kind: 'create',
        ...judged(resource.validateCreate(intent.body)),
        upkeep: new Map(),
        projection: response(),
        instant,
        ...UNHOOKED,
      }
    case 'update': {
      const key = keyOf(resource, intent.key)
      const identity = byKey(resource.key, [key])
      return {
        kind: 'update',
        key,
        identity,
        where: identity,
        precondition: null,
        ...judged(resource.validateUpdate(intent.body)),
        upkeep: NO_UPKEEP,
        match: intent.match,
        projection: response(),
        instant,
        ...UNHOOKED,
      }
    }
    case 'restore': {
      const key = keyOf(resource, intent.key)
      const identity = byKey(resource.key, [key])
      return {
        kind: 'restore',
        key,
        identity,
        where: identity,
        precondition: null,
        changes: new Map(),
        upkeep: NO_UPKEEP,
        invalid: null,
        match: null,
        projection: response(),
        instant,
        ...UNHOOKED,
      }
    }
    case 'delete': {
      const key = keyOf(resource, intent.key)
      const where = byKey(resource.key, [key])
      const { match } = intent
      return { kind: 'delete', key, where, precondition: null, match, mark: null, report: null, instant, ...UNHOOKED }
    }
    case 'bulkCreate':
      return {
        kind: 'bulkCreate',
        ...judgedAll(resource, intent.bodies),
        upkeep: new Map(),
        projection: response(),
        instant,
        ...UNHOOKED,
      }
    case 'bulkDelete': {
      const keys = distinctKeys(resource.key, intent.keys)
      const where = byKey(resource.key, keys)
      return { kind: 'bulkDelete', keys, where, mark: null, report: null, instant, ...UNHOOKED }
    }
  }
}

const UNHOOKED = { before: null, after: null } as const
const NO_UPKEEP: Upkeep = { values: new Map(), increments: [] }

function keyOf({ key }: Resource, text: string): KeyValue {
  const value = readKey(key, text)
  if (value === null) throw problem('not-found')
  return value
}

function judged(verdict: Validation): { readonly changes: Changes; readonly invalid: Invalid | null } {
  return { changes: verdict.changes, invalid: 'errors' in verdict ? verdict : null }
}

/** All bodies or none: what is wrong is told of each. */
function judgedAll(
  { validateCreate }: Resource,
  bodies: readonly unknown[],
): { readonly records: readonly Changes[]; readonly invalid: ReadonlyMap<number, Invalid | null> } {
  const invalid = new Map<number, Invalid | null>()
  const records = bodies.map((body, index): Changes => {
    if (!isObject(body)) {
      invalid.set(index, null)
      return new Map()
    }
    const one = judged(validateCreate(body))
    if (one.invalid !== null) invalid.set(index, one.invalid)
    return one.changes
  })
  return { records, invalid }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export { byKey, readKey } from './key.js'
export { planList } from './list.js'
export { fullProjection } from './projection.js'
