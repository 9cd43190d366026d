import type { Action } from '../../types/action.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { invalidQuery, isRefusal } from '../common/problem.js'
import { valueIn, versionIn } from './answers.js'
import type { ArgumentName, Arguments } from './arguments.js'
import { acted, actionNamed, actionsOf, type Context, called, namedBy } from './called.js'
import { describeFor } from './describe.js'
import { type Probed, probe } from './probe.js'
import type { Served } from './served.js'

export interface Tool {
  readonly name: string
  readonly description: string
  readonly required: readonly ArgumentName[]
  readonly optional: readonly ArgumentName[]
  /** The operation that it stands for; null for what looks at no records. */
  readonly operation: OperationName | null
  /** Whether it writes, and if so whether what was there is lost. */
  readonly writes: 'nothing' | 'adds' | 'overwrites'
  readonly run: (context: Context, given: Arguments) => Promise<object>
}

/** The one table of tools. */
export const TOOLS: readonly Tool[] = Object.freeze<Tool[]>([
  {
    name: 'list_resources',
    description: 'The resources that you may use, each with the tools that take its name.',
    required: [],
    optional: [],
    operation: null,
    writes: 'nothing',
    run: async (context) => {
      const all = await Promise.all([...context.served.values()].map((each) => shownIn(context, each)))
      return { resources: all.filter((each) => each !== null) }
    },
  },
  {
    name: 'describe_resource',
    description:
      'The key, the fields with their filter operators, and the relations of a resource, and what the values of records must be.',
    required: ['resource'],
    optional: [],
    operation: null,
    writes: 'nothing',
    run: async (context, given) => {
      const each = namedBy(context, given)
      const probed = await probe(each, context)
      const served = [...context.served.values()]
      const nameOf = (resource: Resource): string | null =>
        served.find((other) => other.resource === resource)?.name ?? null
      return { name: each.name, tools: toolsOf(probed), ...(await describeFor(each, probed, nameOf)) }
    },
  },
  {
    name: 'query_records',
    description:
      'The first records of a resource that a filter lets through, in an order, and how many there are in all.',
    required: ['resource'],
    optional: ['filter', 'sort', 'select', 'limit'],
    operation: 'getList',
    writes: 'nothing',
    run: async (context, given) => {
      const { filter, sort, select } = given
      const pageSize = String(limitOf(context, given))
      return Object(valueIn(await called(context, 'getList', given, { filter, sort, select, pageSize })))
    },
  },
  {
    name: 'get_record',
    description: 'The record of a key, and its version where records have one.',
    required: ['resource', 'key'],
    optional: ['select'],
    operation: 'getById',
    writes: 'nothing',
    run: async (context, given) => recordIn(await called(context, 'getById', given, { select: given.select })),
  },
  {
    name: 'create_record',
    description: 'Creates a record. Answers with it.',
    required: ['resource', 'values'],
    optional: [],
    operation: 'create',
    writes: 'adds',
    run: async (context, given) => recordIn(await called(context, 'create', given)),
  },
  {
    name: 'update_record',
    description:
      'Changes the given fields of a record; null clears one. Where records have versions it takes that of get_record. Answers with the record.',
    required: ['resource', 'key', 'values'],
    optional: ['version'],
    operation: 'update',
    writes: 'overwrites',
    run: async (context, given) => recordIn(await called(context, 'update', given)),
  },
  {
    name: 'delete_record',
    description: 'Deletes a record. Where records have versions it takes that of get_record.',
    required: ['resource', 'key'],
    optional: ['version'],
    operation: 'delete',
    writes: 'overwrites',
    run: async (context, given) => {
      valueIn(await called(context, 'delete', given))
      return { deleted: true }
    },
  },
])

/** A resource in a list of them; null for one that the caller may do nothing with. */
async function shownIn(context: Context, each: Served): Promise<object | null> {
  try {
    const tools = toolsOf(await probe(each, context))
    return { name: each.name, tools }
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

function toolsOf({ allowed, actions }: Probed): readonly string[] {
  const own = TOOLS.flatMap(({ name, operation }) => (operation !== null && allowed.has(operation) ? [name] : []))
  return actions.size === 0 ? own : [...own, RUN_ACTION]
}

const RUN_ACTION = 'run_action'

/** The tools that there are for some resources: those that write where that is asked for, and that of actions where one could run. */
export function toolsFor(served: Context['served'], writes: boolean): readonly Tool[] {
  const own = TOOLS.filter((tool) => writes || tool.writes === 'nothing')
  const hasActions = [...served.values()].some((each) => actionsOf(each, { writes }).length > 0)
  return hasActions ? [...own, actionTool(writes)] : own
}

function actionTool(writes: boolean): Tool {
  return {
    name: RUN_ACTION,
    description:
      'Runs an action of a resource: on the record of a key, or on the collection without one. What actions there are, and what they take, describe_resource says. Where records have versions it takes that of get_record.',
    required: ['resource', 'action'],
    optional: ['key', 'input', 'version'],
    operation: null,
    writes: writes ? 'overwrites' : 'nothing',
    run: async (context, given) => {
      const action = actionNamed(context, given)
      return answered(action, await acted(context, action, given), context.maxRecords)
    },
  }
}

/** The answer of an action, cut to the largest number of records that an answer may have. */
function answered({ output }: Action, reply: Reply, most: number): object {
  if (output === 'none') return { done: true }
  if (output === 'record') return recordIn(reply)
  const value = valueIn(reply)
  if (output === 'value') return { value }
  const { items } = Object(value)
  return Array.isArray(items) && items.length > most ? { items: items.slice(0, most), more: true } : { items }
}

/** @throws Problem for more than one answer may have */
function limitOf(context: Context, given: Arguments): number {
  const { query } = namedBy(context, given).resource
  const most = Math.min(context.maxRecords, query.maxPageSize)
  const { limit = Math.min(query.pageSize, most) } = given
  if (limit <= most) return limit
  throw invalidQuery('limit', `must be at most ${most}.`)
}

function recordIn(reply: Reply): object {
  const record = valueIn(reply)
  const version = versionIn(reply)
  return version === null ? { record } : { record, version }
}
