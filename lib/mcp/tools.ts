import type { OperationName, Resource } from '../../types/resource.js'
import { isRefusal } from '../common/problem.js'
import { truncateEcho } from '../common/truncateEcho.js'
import { createActionTool, RUN_ACTION } from './actionTool.js'
import { assertAnswerSize, readReplyRecord, readReplyValue, shortenAnswer, type ToolAnswer } from './answers.js'
import type { ArgumentName, Arguments } from './arguments.js'
import { callOperation, findResource, findResourceFor, runnableActionsOf, type ToolContext } from './callResource.js'
import { describeResource } from './describe.js'
import {
  DELETED_OUTPUT,
  type OutputSchema,
  RECORD_OUTPUT,
  RECORDS_OUTPUT,
  RESOURCE_OUTPUT,
  RESOURCES_OUTPUT,
  WRITTEN_OUTPUT,
} from './outputSchemas.js'
import { findPermissions, type Permissions } from './permissions.js'
import { queryRecords } from './query.js'
import type { ToolResource } from './toolResource.js'

export interface Tool {
  readonly name: string
  readonly description: string
  readonly required: readonly ArgumentName[]
  readonly optional: readonly ArgumentName[]
  /** JSON Schema of the tool's answers. */
  readonly output: OutputSchema
  /** The operation that the tool calls. Null if the tool calls no operation or several operations. */
  readonly operation: OperationName | null
  /** Whether the tool writes, and whether its write loses earlier values. An action may have any effect. */
  readonly effect: 'nothing' | 'adds' | 'overwrites' | 'anything'
  /** Builds the question that a person must confirm first. Absent if no confirmation is needed. */
  readonly question?: (context: ToolContext, given: Arguments) => Promise<string>
  readonly run: (context: ToolContext, given: Arguments) => Promise<ToolAnswer>
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
    effect: 'nothing',
    run: async (context) => {
      const all = await Promise.all([...context.resources.values()].map((each) => describeListed(context, each)))
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
    effect: 'nothing',
    run: async (context, given) => {
      const each = findResource(context, given)
      const probed = await findToolPermissions(context, each)
      const served = [...context.resources.values()]
      const nameOf = (resource: Resource): string | null =>
        served.find((other) => other.resource === resource)?.name ?? null
      return { name: each.name, tools: allowedTools(probed), ...(await describeResource(each, probed, nameOf)) }
    },
  },
  {
    name: 'query_records',
    description: 'Returns a page of records, filtered and sorted. The first page has the total number.',
    required: ['resource'],
    optional: ['filter', 'sort', 'select', 'limit', 'cursor'],
    output: RECORDS_OUTPUT,
    operation: 'getList',
    effect: 'nothing',
    run: queryRecords,
  },
  {
    name: 'get_record',
    description: 'Returns a record by key, with its version if records have versions.',
    required: ['resource', 'key'],
    optional: ['select'],
    output: RECORD_OUTPUT,
    operation: 'getById',
    effect: 'nothing',
    run: async (context, given) => {
      const answer = readReplyRecord(await callOperation(context, 'getById', given, { select: given.select }))
      return assertAnswerSize(answer, context.maxBytes)
    },
  },
  {
    name: 'create_record',
    description: 'Creates a record and returns it.',
    required: ['resource', 'values'],
    optional: [],
    output: WRITTEN_OUTPUT,
    operation: 'create',
    effect: 'adds',
    run: (context, given) => writeRecord(context, 'create', given),
  },
  {
    name: 'update_record',
    description:
      'Changes the given fields of a record and returns it. null clears a field. If records have versions, give the version from get_record.',
    required: ['resource', 'key', 'values'],
    optional: ['version'],
    output: WRITTEN_OUTPUT,
    operation: 'update',
    effect: 'overwrites',
    run: (context, given) => writeRecord(context, 'update', given),
  },
  {
    name: 'delete_record',
    description:
      'Deletes a record. If records have versions, give the version from get_record. A person may have to confirm.',
    required: ['resource', 'key'],
    optional: ['version'],
    output: DELETED_OUTPUT,
    operation: 'delete',
    effect: 'overwrites',
    question: async (context, given) => {
      const served = findResourceFor(context, 'delete', given)
      // The policy is evaluated before the question, because a person must not be asked about a forbidden call.
      await findPermissions(served, { request: context.request, operations: ['delete'], actions: [] })
      return given.key === undefined ? `Delete ${served.name}?` : `Delete ${served.name} ${quoteKey(given.key)}?`
    },
    run: async (context, given) => {
      readReplyValue(await callOperation(context, 'delete', given))
      return { deleted: true }
    },
  },
])

/**
 * Quotes a key for the person who confirms. Invisible characters are escaped, because they could make the key look like
 * another key.
 */
function quoteKey(key: string): string {
  return JSON.stringify(truncateEcho(key)).replace(
    /[\p{Cf}\p{Zl}\p{Zp}]/gu,
    (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`,
  )
}

async function writeRecord(
  context: ToolContext,
  operation: 'create' | 'update',
  given: Arguments,
): Promise<ToolAnswer> {
  const { keys } = findResource(context, given).resource
  const answer = readReplyRecord(await callOperation(context, operation, given))
  return shortenAnswer(
    answer,
    keys.map(({ json }) => json),
    context.maxBytes,
  )
}

/** Describes a resource in the answer of `list_resources`. Returns null if the caller is allowed nothing. */
async function describeListed(context: ToolContext, each: ToolResource): Promise<object | null> {
  try {
    const tools = allowedTools(await findToolPermissions(context, each))
    return { name: each.name, tools }
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

function findToolPermissions(context: ToolContext, each: ToolResource): Promise<Permissions> {
  const { request, operations } = context
  return findPermissions(each, { request, operations, actions: runnableActionsOf(each, context) })
}

function allowedTools({ allowed, actions }: Permissions): readonly string[] {
  const own = TOOLS.flatMap(({ name, operation }) => (operation !== null && allowed.has(operation) ? [name] : []))
  return actions.size === 0 ? own : [...own, RUN_ACTION]
}

/**
 * Selects the tools for some resources. Tools that write require the option `write`, and `run_action` requires an
 * action that tools may run.
 */
export function selectTools(served: ToolContext['resources'], writes: boolean): readonly Tool[] {
  const own = TOOLS.filter((tool) => writes || tool.effect === 'nothing')
  const hasActions = [...served.values()].some((each) => runnableActionsOf(each, { hasWriteTools: writes }).length > 0)
  const all = hasActions ? [...own, createActionTool(writes)] : own
  const hasSingleton = [...served.values()].some(({ resource }) => resource.behaviours.ownKey !== null)
  return hasSingleton ? all.map(makeKeyOptional) : all
}

/** Makes `key` optional, because singletons have no key. */
function makeKeyOptional(tool: Tool): Tool {
  const required = tool.required.filter((name) => name !== 'key')
  return required.length === tool.required.length ? tool : { ...tool, required, optional: [...tool.optional, 'key'] }
}
