import type { OperationName, Resource } from '../../types/resource.js'
import { isRefusal } from '../common/problem.js'
import { actionTool, RUN_ACTION } from './actionTool.js'
import { type Answer, assertFits, recordIn, shortened, valueIn } from './answers.js'
import type { ArgumentName, Arguments } from './arguments.js'
import { actionsOf, type Context, called, namedBy, resourceFor } from './called.js'
import { describeFor } from './describe.js'
import {
  DELETED_OUTPUT,
  type OutputSchema,
  RECORD_OUTPUT,
  RECORDS_OUTPUT,
  RESOURCE_OUTPUT,
  RESOURCES_OUTPUT,
  WRITTEN_OUTPUT,
} from './outputs.js'
import { type Probed, probe } from './probe.js'
import { queryRecords } from './query.js'
import type { Served } from './served.js'

export interface Tool {
  readonly name: string
  readonly description: string
  readonly required: readonly ArgumentName[]
  readonly optional: readonly ArgumentName[]
  /** JSON Schema of the tool's answers. */
  readonly output: OutputSchema
  /** The operation that the tool calls, or null if it calls none or several. */
  readonly operation: OperationName | null
  /** Whether the tool writes, and whether a write loses earlier values. An action may do anything. */
  readonly writes: 'nothing' | 'adds' | 'overwrites' | 'anything'
  /** Builds the question that a person must confirm first. Absent if no confirmation is needed. */
  readonly question?: (context: Context, given: Arguments) => Promise<string>
  readonly run: (context: Context, given: Arguments) => Promise<Answer>
}

/** All tools except `run_action`. */
const TOOLS: readonly Tool[] = Object.freeze<Tool[]>([
  {
    name: 'list_resources',
    description: 'Lists the resources that you may use, each with its tools.',
    required: [],
    optional: [],
    output: RESOURCES_OUTPUT,
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
      'Describes a resource: its key, fields with filter operators, relations, actions, and the schemas of values.',
    required: ['resource'],
    optional: [],
    output: RESOURCE_OUTPUT,
    operation: null,
    writes: 'nothing',
    run: async (context, given) => {
      const each = namedBy(context, given)
      const probed = await probedBy(context, each)
      const served = [...context.served.values()]
      const nameOf = (resource: Resource): string | null =>
        served.find((other) => other.resource === resource)?.name ?? null
      return { name: each.name, tools: toolsOf(probed), ...(await describeFor(each, probed, nameOf)) }
    },
  },
  {
    name: 'query_records',
    description: 'Returns a page of records, filtered and sorted. The first page has the total number.',
    required: ['resource'],
    optional: ['filter', 'sort', 'select', 'limit', 'cursor'],
    output: RECORDS_OUTPUT,
    operation: 'getList',
    writes: 'nothing',
    run: queryRecords,
  },
  {
    name: 'get_record',
    description: 'Returns a record by key, with its version if records have versions.',
    required: ['resource', 'key'],
    optional: ['select'],
    output: RECORD_OUTPUT,
    operation: 'getById',
    writes: 'nothing',
    run: async (context, given) => {
      const answer = recordIn(await called(context, 'getById', given, { select: given.select }))
      return assertFits(answer, context.maxBytes)
    },
  },
  {
    name: 'create_record',
    description: 'Creates a record and returns it.',
    required: ['resource', 'values'],
    optional: [],
    output: WRITTEN_OUTPUT,
    operation: 'create',
    writes: 'adds',
    run: (context, given) => written(context, 'create', given),
  },
  {
    name: 'update_record',
    description:
      'Changes the given fields of a record and returns it. null clears a field. If records have versions, give the version from get_record.',
    required: ['resource', 'key', 'values'],
    optional: ['version'],
    output: WRITTEN_OUTPUT,
    operation: 'update',
    writes: 'overwrites',
    run: (context, given) => written(context, 'update', given),
  },
  {
    name: 'delete_record',
    description:
      'Deletes a record. If records have versions, give the version from get_record. A person may have to confirm.',
    required: ['resource', 'key'],
    optional: ['version'],
    output: DELETED_OUTPUT,
    operation: 'delete',
    writes: 'overwrites',
    question: async (context, given) => {
      const served = resourceFor(context, 'delete', given)
      // The policy is evaluated first: a person must not be asked about a forbidden call.
      await probe(served, { request: context.request, operations: ['delete'], actions: [] })
      return given.key === undefined ? `Delete ${served.name}?` : `Delete ${served.name} ${JSON.stringify(given.key)}?`
    },
    run: async (context, given) => {
      valueIn(await called(context, 'delete', given))
      return { deleted: true }
    },
  },
])

async function written(context: Context, operation: 'create' | 'update', given: Arguments): Promise<Answer> {
  const { keys } = namedBy(context, given).resource
  const answer = recordIn(await called(context, operation, given))
  return shortened(
    answer,
    keys.map(({ json }) => json),
    context.maxBytes,
  )
}

/** A resource in the answer of `list_resources`, or null if the caller is allowed nothing. */
async function shownIn(context: Context, each: Served): Promise<object | null> {
  try {
    const tools = toolsOf(await probedBy(context, each))
    return { name: each.name, tools }
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

function probedBy(context: Context, each: Served): Promise<Probed> {
  const { request, operations } = context
  return probe(each, { request, operations, actions: actionsOf(each, context) })
}

function toolsOf({ allowed, actions }: Probed): readonly string[] {
  const own = TOOLS.flatMap(({ name, operation }) => (operation !== null && allowed.has(operation) ? [name] : []))
  return actions.size === 0 ? own : [...own, RUN_ACTION]
}

/**
 * Tools for some resources. Tools that write need the option `write`, and `run_action` needs an action that it may run.
 */
export function toolsFor(served: Context['served'], writes: boolean): readonly Tool[] {
  const own = TOOLS.filter((tool) => writes || tool.writes === 'nothing')
  const hasActions = [...served.values()].some((each) => actionsOf(each, { writes }).length > 0)
  const all = hasActions ? [...own, actionTool(writes)] : own
  const hasSingleton = [...served.values()].some(({ resource }) => resource.behaviours.ownKey !== null)
  return hasSingleton ? all.map(withoutKey) : all
}

/** Makes `key` optional, because singletons have no key. */
function withoutKey(tool: Tool): Tool {
  const required = tool.required.filter((name) => name !== 'key')
  return required.length === tool.required.length ? tool : { ...tool, required, optional: [...tool.optional, 'key'] }
}
