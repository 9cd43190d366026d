// The server whose tools, prompts and resources the conformance suite calls, as its scenarios describe them. It is served like the tools of
// resources, so that the suite reaches every kind of answer.

import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'

/** A picture of one pixel, and a sound without samples. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

const text = (value: string) => ({ type: 'text', text: value }) as const
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const
const resource = (uri: string, mimeType: string, value: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: value } }) as const
const said = (value: string) => ({ content: [text(value)] })

/** Signs the state that clients send back. */
const states = createRequestStateCodec<string>({ key: 'the state of the scenarios, signed by this server' })

/** An answer that the client must complete by answers to these questions. */
async function asks(inputRequests: InputRequests, state?: string) {
  const requestState = state === undefined ? {} : { requestState: await states.mint(state) }
  return inputRequired({ inputRequests, ...requestState })
}

/** A form with one field. */
function form(message: string, field: string, isFlag = false) {
  const type = isFlag ? ({ type: 'boolean' } as const) : ({ type: 'string' } as const)
  const requestedSchema = { type: 'object' as const, properties: { [field]: type }, required: [field] }
  return inputRequired.elicit({ message, requestedSchema })
}

function sampling(question: string, maxTokens: number) {
  return inputRequired.createMessage({ messages: [{ role: 'user', content: text(question) }], maxTokens })
}

function capabilities({ mcpReq }: ServerContext): ClientCapabilities {
  return Object(Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY])
}

/** Whether the client has answered all of these questions. */
function hasAnswers({ mcpReq }: ServerContext, ...names: readonly string[]): boolean {
  return names.every((name) => inputResponse(mcpReq.inputResponses, name).kind !== 'missing')
}

async function reportProgress({ mcpReq }: ServerContext): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  for (const progress of [0, 50, 100])
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
}

type Tool = (context: ServerContext) => unknown

const SAID = 'test_input_required_result'

const TOOLS: Readonly<Record<string, Tool>> = {
  test_simple_text: () => said('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: () => ({
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => ({ ...said('This tool intentionally returns an error for testing'), isError: true }),
  test_tool_with_progress: async (context) => {
    await reportProgress(context)
    return said('done')
  },
  test_logging_tool: async ({ mcpReq }) => {
    await mcpReq.log('info', 'logged')
    return said('logged')
  },
  test_missing_capability: (context) => {
    const requiredCapabilities = { sampling: {} }
    if (capabilities(context).sampling === undefined)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities })
    return said('the client has it')
  },
  test_streaming_elicitation: () => asks({ user_name: form('What is your name?', 'name') }),
  [`${SAID}_elicitation`]: ({ mcpReq }) => {
    const { name } = acceptedContent(mcpReq.inputResponses, 'user_name') ?? {}
    if (typeof name === 'string') return said(`Hello, ${name}!`)
    return asks({ user_name: form('What is your name?', 'name') })
  },
  [`${SAID}_sampling`]: ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.capital_question
    if (answer === undefined) return asks({ capital_question: sampling('What is the capital of France?', 100) })
    return said(String(Object(Object(answer).content).text))
  },
  [`${SAID}_list_roots`]: ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.client_roots
    if (answer === undefined) return asks({ client_roots: inputRequired.listRoots() })
    return said(JSON.stringify(answer))
  },
  [`${SAID}_request_state`]: (context) => {
    if (hasAnswers(context, 'confirm') && context.mcpReq.requestState() === 'asked') return said('state-ok')
    return asks({ confirm: form('Please confirm', 'ok', true) }, 'asked')
  },
  [`${SAID}_tampered_state`]: (context) => TOOLS[`${SAID}_request_state`]?.(context),
  [`${SAID}_multiple_inputs`]: (context) => {
    if (hasAnswers(context, 'user_name', 'greeting', 'client_roots')) return said('all are answered')
    const greeting = sampling('Generate a greeting', 50)
    const client_roots = inputRequired.listRoots()
    return asks({ user_name: form('What is your name?', 'name'), greeting, client_roots }, 'asked')
  },
  [`${SAID}_multi_round`]: (context) => {
    const state = context.mcpReq.requestState()
    if (state === 'second' && hasAnswers(context, 'step2')) return said('both are answered')
    if (state === 'first' && hasAnswers(context, 'step1'))
      return asks({ step2: form('Step 2: What is your favorite color?', 'color') }, 'second')
    return asks({ step1: form('Step 1: What is your name?', 'name') }, 'first')
  },
  [`${SAID}_capabilities`]: (context) => {
    const { elicitation, sampling: samples } = capabilities(context)
    return asks({
      ...(elicitation === undefined ? {} : { user_name: form('What is your name?', 'name') }),
      ...(samples === undefined ? {} : { greeting: sampling('Generate a greeting', 50) }),
    })
  },
}

const user = (content: object) => ({ role: 'user', content })

type Prompt = (args: Readonly<Record<string, string>>, context: ServerContext) => unknown

const PROMPTS: Readonly<Record<string, readonly [names: readonly string[], get: Prompt]>> = {
  test_simple_prompt: [[], () => ({ messages: [user(text('This is a simple prompt for testing.'))] })],
  test_prompt_with_arguments: [
    ['arg1', 'arg2'],
    ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  ],
  test_prompt_with_embedded_resource: [
    ['resourceUri'],
    ({ resourceUri = '' }) => ({
      messages: [
        user(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  ],
  test_prompt_with_image: [[], () => ({ messages: [user(image), user(text('Please analyze the image above.'))] })],
  test_input_required_result_prompt: [
    [],
    (_args, { mcpReq }) => {
      const { context } = acceptedContent(mcpReq.inputResponses, 'user_context') ?? {}
      if (context !== undefined) return { messages: [user(text(String(context)))] }
      return asks({ user_context: form('What context should the prompt use?', 'context') })
    },
  ],
}

const RESOURCES: Readonly<Record<string, object>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
}
const TEMPLATE = 'test://template/{id}/data'

function contentOf(uri: string): object {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? []
  if (id === undefined) {
    const known = RESOURCES[uri]
    if (known === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri })
    return known
  }
  const data = { id, templateTest: true, data: `Data for ID: ${id}` }
  return { mimeType: 'application/json', text: JSON.stringify(data) }
}

/** The entry of a table by its name. @throws ProtocolError for unknown names */
function entry<T>(table: Readonly<Record<string, T>>, name: string): T {
  const found = Object.hasOwn(table, name) ? table[name] : undefined
  if (found === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no ${name}.`)
  return found
}

/** A server with everything that the scenarios need and that can be served without sessions. */
export function suiteServer(): Server {
  const server = new Server(
    { name: 'conformance', version: '1' },
    {
      capabilities: { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} },
      requestState: { verify: states.verify },
    },
  )
  const inputSchema = { type: 'object' } as const
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(TOOLS).map((name) => ({ name, description: `The tool ${name}.`, inputSchema })),
  }))
  server.setRequestHandler('tools/call', ({ params }, context) => entry(TOOLS, params.name)(context) as never)
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(PROMPTS).map(([name, [names]]) => {
      const given = names.map((each) => ({ name: each, description: `The argument ${each}.`, required: true }))
      return { name, description: `The prompt ${name}.`, arguments: given }
    }),
  }))
  server.setRequestHandler('prompts/get', ({ params }, context) => {
    const [, get] = entry(PROMPTS, params.name)
    return get(params.arguments ?? {}, context) as never
  })
  server.setRequestHandler('resources/list', () => ({
    resources: Object.keys(RESOURCES).map((uri) => ({ uri, name: uri, description: `The resource ${uri}.` })),
  }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: TEMPLATE, name: 'template', description: 'Data by an ID.' }],
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
    contents: [{ uri, ...contentOf(uri) } as never],
  }))
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [], hasMore: false } }))
  return server
}
