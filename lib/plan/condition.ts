import type { Predicate } from '../../types/plan.js'
import type { ModelAccess, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { internalError } from '../common/internalError.js'
import { joinPredicates } from '../common/predicates.js'
import { parseCondition } from '../language/query.js'
import type { Context } from './context.js'
import { planFilter } from './filter.js'
import { QueryCost } from './queryCost.js'

/**
 * Plans a condition that the host wrote for records of a resource. The condition may name every attribute and
 * association. Limits for callers do not apply.
 * @throws Problem, QuerySyntaxError or QueryLimitError for a text that is malformed or names unknown fields
 */
export function planCondition(resource: Resource, text: string): Predicate {
  const { scopeJoins: joins, scopeQuantifiers: quantifiers } = resource.limits
  const limits = { joins, quantifiers, quantifierDepth: quantifiers, cost: false } as const
  const names = { joins: 'scopeJoins', quantifiers: 'scopeQuantifiers', quantifierDepth: 'scopeQuantifiers' } as const
  const context: Context = {
    root: {
      resource,
      access: resource.hostAccess(),
      remainingRelations: Number.POSITIVE_INFINITY,
      collections: 0,
      joinRow: null,
    },
    unknownFields: 'reject',
    view: createHostView(resource),
    queryCost: new QueryCost(limits, { spent: 0 }, names),
    prefix: '',
  }
  const planned = planFilter(context, parseCondition(text))
  // `planFilter` returns null only if unknown fields are ignored.
  if (planned === null) throw internalError('the condition of a scope contains no comparison')
  return planned
}

/** Creates a view of every attribute and association, without soft-deleted records and without policies. */
function createHostView(resource: Resource): View {
  return {
    hidden: () => NOTHING,
    readable: () => true,
    writable: () => true,
    join: ({ relation, access }) => {
      const links = relation.joinModel?.resources() ?? []
      for (const related of [...access.resources, ...links]) warnIfUnguarded(resource, related)
      return {
        relation,
        condition: staticConditionOf(access.resources),
        joinRowCondition: staticConditionOf(links),
        identity: access.order,
      }
    },
    joinRow: null,
    references: NO_REFERENCES,
    headers: NONE,
  }
}

const NOTHING: ReadonlySet<string> = new Set()
const NO_REFERENCES: View['references'] = new Map()
const NONE: View['headers'] = Object.freeze({})

const warnedResources = new WeakMap<Resource, Set<Resource>>()

/**
 * Warns about a condition that reads a resource without write policies, because every caller could change the result of
 * the condition.
 */
function warnIfUnguarded(resource: Resource, related: Resource): void {
  const known = getOrCreate(warnedResources, resource, () => new Set())
  if (related === resource || known.has(related)) return
  known.add(related)
  const { operations, operationTable, documented, behaviours } = related
  const open = [...operations].filter((name) => operationTable[name].hook !== null && !documented.policies.has(name))
  if (open.length === 0 || behaviours.resolveScope !== null) return
  process.emitWarning(
    `${resource.name}: the scope's condition depends on ${related.name}, whose resource at "${related.route}" lets every caller ` +
      `${open.join(', ')}. Every caller can therefore change which records the scope contains. Give that resource a scope or policies.`,
    { code: 'CRUD_SCOPE_OPEN_PATH' },
  )
}

function staticConditionOf(resources: ModelAccess['resources']): Predicate | null {
  return joinPredicates(
    'and',
    resources.map((resource) => resource.behaviours.staticCondition?.(resource) ?? null),
  )
}
