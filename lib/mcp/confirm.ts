import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { isObject } from '../common/object.js'
import { Problem } from '../common/problem.js'

/** Id of the confirmation question. The repeated call contains the person's answer with this id. */
const QUESTION_NAME = 'confirm'

/**
 * Requires a person to confirm a call. Returns null if the call is confirmed. Otherwise returns a response that makes
 * the client ask the person and repeat the call. The server stores no state, because the repeated call has all
 * arguments again. Only the client itself could forge the answer.
 * @throws Problem 403 if the client cannot ask, and if the person did not confirm
 */
export function requestConfirmation(
  message: string,
  server: Server,
  context: ServerContext,
): InputRequiredResult | null {
  const { inputResponses } = context.mcpReq
  if (!canElicit(clientCapabilities(server, context))) throw refusalProblem('confirmation-required', CANNOT_ASK)
  if (acceptedContent(inputResponses, QUESTION_NAME)?.[QUESTION_NAME] === true) return null
  if (inputResponse(inputResponses, QUESTION_NAME).kind === 'missing') {
    return inputRequired({
      inputRequests: {
        [QUESTION_NAME]: inputRequired.elicit({
          message,
          requestedSchema: { ...CONFIRMATION_FORM, required: [...CONFIRMATION_FORM.required] },
        }),
      },
    })
  }
  throw refusalProblem(
    'not-confirmed',
    'A person was asked and did not confirm. Nothing was deleted. Do not repeat the call.',
  )
}

const CONFIRMATION_FORM = {
  type: 'object',
  properties: { [QUESTION_NAME]: { type: 'boolean', title: 'Delete it', description: 'This cannot be undone.' } },
  required: [QUESTION_NAME],
} as const

const CANNOT_ASK =
  'A person must confirm this call, but this client cannot ask: its request does not declare elicitation. Over HTTP this needs revision 2026-07-28 of the protocol. The server can disable confirmation with the option `confirm: false` of crudMcp.'

function refusalProblem(code: string, detail: string): Problem {
  return new Problem({ status: 403, code, detail })
}

/** The client's capabilities. The request declares them, or the handshake in earlier protocol versions. */
function clientCapabilities(server: Server, { mcpReq }: ServerContext): ClientCapabilities | undefined {
  const declared: unknown = Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY]
  return isObject(declared) ? declared : server.getClientCapabilities()
}

/** Whether the client can show a form. Elicitation without a mode supports forms. */
function canElicit({ elicitation }: ClientCapabilities = {}): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}
