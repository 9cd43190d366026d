import type { Action } from '../../types/action.js'
import type { Call } from '../../types/call.js'
import type { ActionIntent } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { readOptionalObject } from './body.js'
import { parseMatch } from './match.js'
import { readInput, readSelection } from './parameters.js'
import { prefersMinimal } from './prefer.js'
import { readSelectionMembers } from './record.js'

const NOTHING: ActionIntent['input'] = Object.freeze({})

/**
 * Reads a call of an action. The input is the body, or the parameters of a GET. On a singleton the path has no key, so
 * `ownKey` is the key of the caller's record.
 *
 * @throws Problem for malformed input
 */
export async function readAction(
  resource: Resource,
  action: Action,
  call: Call,
  ownKey?: string,
): Promise<ActionIntent> {
  const { headers, params, url } = call
  const isRead = action.method === 'get'
  const match = resource.versions && !isRead ? parseMatch(headers['if-match']) : null
  const addressed = {
    kind: 'action',
    action,
    key: action.on === 'record' ? (ownKey ?? String(params.id ?? '')) : null,
    match,
    minimal: !isRead && prefersMinimal(call),
  } as const
  if (isRead) {
    const { input, ...selection } = readInput(resource, action, url)
    return { ...addressed, ...readSelectionMembers(resource, selection, headers), input }
  }
  const body = action.input === null ? null : await readOptionalObject(resource, call)
  const { given, unknown } = readSelection(resource, url)
  // Unknown parameters of writes belong to the host.
  const selecting = readSelectionMembers(resource, { given, unknown: { ...unknown, given: [] } }, headers)
  return { ...addressed, ...selecting, input: body ?? NOTHING }
}
