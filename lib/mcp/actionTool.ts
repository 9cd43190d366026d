import type { Action } from '../../types/action.js'
import type { Reply } from '../../types/reply.js'
import {
  assertAnswerSize,
  countFitting,
  readReplyRecord,
  readReplyValue,
  shortenAnswer,
  type ToolAnswer,
} from './answers.js'
import { callAction, findAction, findResource, type ToolContext } from './callResource.js'
import { ACTION_OUTPUT } from './outputSchemas.js'
import type { Tool } from './tools.js'

export const RUN_ACTION = 'run_action'

export function createActionTool(writes: boolean): Tool {
  return {
    name: RUN_ACTION,
    description:
      'Runs an action of a resource: on one record by key, or on the collection without a key. describe_resource lists the actions and their input. If records have versions, give the version from get_record.',
    required: ['resource', 'action'],
    optional: ['key', 'input', 'version'],
    output: ACTION_OUTPUT,
    operation: null,
    effect: writes ? 'anything' : 'nothing',
    run: async (context, given) => {
      const action = findAction(context, given)
      const answer = toActionAnswer(action, await callAction(context, action, given), context)
      if (action.method === 'get') return assertAnswerSize(answer, context.maxBytes)
      const { keys } = findResource(context, given).resource
      return shortenAnswer(
        answer,
        keys.map(({ json }) => json),
        context.maxBytes,
      )
    },
  }
}

/** Builds the answer of an action. A list is shortened to `maxRecords` items and `maxBytes` bytes. */
function toActionAnswer({ output }: Action, reply: Reply, { maxRecords, maxBytes }: ToolContext): ToolAnswer {
  if (output === 'none') return { done: true }
  if (output === 'record') return readReplyRecord(reply)
  const value = readReplyValue(reply)
  if (output === 'value') return { value }
  const { items } = Object(value)
  if (!Array.isArray(items)) return { items }
  const most = Math.min(maxRecords, countFitting({ more: true }, items, maxBytes))
  return items.length > most ? { items: items.slice(0, most), more: true } : { items }
}
