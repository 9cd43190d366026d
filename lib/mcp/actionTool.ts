import type { Action } from '../../types/action.js'
import type { Reply } from '../../types/reply.js'
import { type Answer, assertFits, fitting, recordIn, shortened, valueIn } from './answers.js'
import { acted, actionNamed, type Context, namedBy } from './called.js'
import { ACTION_OUTPUT } from './outputs.js'
import type { Tool } from './tools.js'

export const RUN_ACTION = 'run_action'

export function actionTool(writes: boolean): Tool {
  return {
    name: RUN_ACTION,
    description:
      'Runs an action of a resource: on one record by key, or on the collection without a key. describe_resource lists the actions and their input. If records have versions, give the version from get_record.',
    required: ['resource', 'action'],
    optional: ['key', 'input', 'version'],
    output: ACTION_OUTPUT,
    operation: null,
    writes: writes ? 'anything' : 'nothing',
    run: async (context, given) => {
      const action = actionNamed(context, given)
      const answer = answered(action, await acted(context, action, given), context)
      if (action.method === 'get') return assertFits(answer, context.maxBytes)
      const { keys } = namedBy(context, given).resource
      return shortened(
        answer,
        keys.map(({ json }) => json),
        context.maxBytes,
      )
    },
  }
}

/** The answer of an action. A list is cut to `maxRecords` items and to `maxBytes`. */
function answered({ output }: Action, reply: Reply, { maxRecords, maxBytes }: Context): Answer {
  if (output === 'none') return { done: true }
  if (output === 'record') return recordIn(reply)
  const value = valueIn(reply)
  if (output === 'value') return { value }
  const { items } = Object(value)
  if (!Array.isArray(items)) return { items }
  const most = Math.min(maxRecords, fitting({ more: true }, items, maxBytes))
  return items.length > most ? { items: items.slice(0, most), more: true } : { items }
}
