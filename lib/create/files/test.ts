import { toArrayLiteral } from '../text.js'
import { createForTypeScript, extensionOf, joinLines, type Plan } from './plan.js'

/** Writes the HTTP test of the application. On an existing database, the test only reads. */
export function writeTest(plan: Plan): string {
  const { login, docs, agents, from } = plan
  const typed = createForTypeScript(plan)
  return joinLines(
    ...writeBeginning(plan),
    '',
    `async function send(method${typed(': string')}, path${typed(': string')}, body${typed('?: object')}, sent = ${login ? 'authorized' : 'headers'}) {`,
    '  const init = { method, headers: sent, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }',
    `  const response = await fetch(\`http://127.0.0.1:\${server.port}\${path}\`, init)`,
    '  const text = await response.text()',
    "  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }",
    '}',
    ...(from === null ? writeOwnTests(plan) : writeReadingTests(plan)),
    ...(login ? writeRefusalTest(plan) : []),
    ...(docs
      ? [
          '',
          `test('the API is documented', async () => {`,
          `  assert.equal((await send('GET', '/docs')).status, 200)`,
          '})',
        ]
      : []),
    ...(agents ? writeAgentsTest(plan) : []),
  )
}

/** Writes the imports, environment, server and request headers of the test. */
function writeBeginning(plan: Plan): readonly (string | false)[] {
  const { login, live, from, database } = plan
  const typed = createForTypeScript(plan)(': Record<string, string>')
  const file = extensionOf(plan)
  const isOwn = from === null
  const hasFile = isOwn && database === 'sqlite'
  return [
    `import assert from 'node:assert/strict'`,
    isOwn && login && `import { randomUUID } from 'node:crypto'`,
    ...(hasFile ? FILE_IMPORTS : []),
    `import { after, before, test } from 'node:test'`,
    live && isOwn && `import { io } from 'socket.io-client'`,
    '',
    ...(hasFile ? FILE : []),
    isOwn && login && `process.env.ADMIN_PASSWORD ??= randomUUID()`,
    `const { start } = await import('../src/app.${file}')`,
    login && `const { ${isOwn ? 'createUser, sign, User' : 'sign'} } = await import('../src/login.${file}')`,
    '',
    `let server${createForTypeScript(plan)(': Awaited<ReturnType<typeof start>>')}`,
    `const headers${typed} = { 'Content-Type': 'application/json' }`,
    login && `const authorized${typed} = { ...headers, Authorization: \`Bearer \${sign('tester')}\` }`,
    '',
    'before(async () => {',
    '  server = await start(0)',
    '})',
    'after(async () => {',
    '  await server.close()',
    hasFile && '  rmSync(folder, { recursive: true })',
    '})',
  ]
}

const FILE_IMPORTS: readonly string[] = [
  `import { mkdtempSync, rmSync } from 'node:fs'`,
  `import { tmpdir } from 'node:os'`,
  `import { join } from 'node:path'`,
]

const FILE: readonly string[] = [
  `const folder = mkdtempSync(join(tmpdir(), 'app-'))`,
  `process.env.DATABASE_FILE = join(folder, 'test.sqlite')`,
]

/** Writes the test of the tools for agents. The MCP transport requires the `Accept` header of this test. */
function writeAgentsTest({ login }: Plan): readonly string[] {
  return [
    '',
    `test('agents find their tools', async () => {`,
    `  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' }`,
    `  const accepting = { ...${login ? 'authorized' : 'headers'}, Accept: 'application/json, text/event-stream' }`,
    `  const { status, body } = await send('POST', '/mcp', call, accepting)`,
    '  assert.equal(status, 200)',
    '  assert.match(JSON.stringify(body), /query_records/)',
    '})',
  ]
}

function writeOwnTests({ live, login }: Plan): readonly (string | false)[] {
  return [
    '',
    `test('a task is created, found and deleted', async () => {`,
    `  const created = await send('POST', '/api/tasks', { title: 'Buy milk' })`,
    '  assert.equal(created.status, 201)',
    `  const found = await send('GET', \`/api/tasks?keys=\${created.body.id}&filter=Title=*milk\`)`,
    '  assert.deepEqual(found.body.items, [created.body])',
    `  assert.equal((await send('DELETE', \`/api/tasks/\${created.body.id}\`)).status, 204)`,
    '})',
    '',
    `test('a task without a title is refused', async () => {`,
    `  const { status, body } = await send('POST', '/api/tasks', {})`,
    '  assert.equal(status, 400)',
    `  assert.deepEqual(body.errors, { title: ['is required.'] })`,
    '})',
    ...(live ? writeLiveTest(login) : []),
  ]
}

function writeLiveTest(login: boolean): readonly string[] {
  return [
    '',
    `test('clients hear of a new task', async () => {`,
    `  const socket = io(\`http://127.0.0.1:\${server.port}/api/tasks/hub\`${login ? `, { auth: { token: sign('tester') } }` : ''})`,
    `  await new Promise((resolve, reject) => void socket.once('connect', () => resolve(null)).once('connect_error', reject))`,
    `  const heard = new Promise((resolve) => void socket.once('OnCreated', (task) => resolve(task)))`,
    `  const { body } = await send('POST', '/api/tasks', { title: 'Call Ewa' })`,
    '  assert.deepEqual(await heard, body)',
    '  socket.close()',
    `  await send('DELETE', \`/api/tasks/\${body.id}\`)`,
    '})',
  ]
}

function writeReadingTests({ written }: Plan): readonly string[] {
  return [
    '',
    `for (const path of ${toArrayLiteral(written.models.map(({ path }) => path))}) {`,
    `  test(\`\${path} is listed\`, async () => {`,
    `    const { status, body } = await send('GET', \`\${path}?pageSize=1\`)`,
    '    assert.equal(status, 200, JSON.stringify(body))',
    '  })',
    '}',
  ]
}

function writeRefusalTest({ from, written }: Plan): readonly string[] {
  const [first] = written.models
  const refused = [
    '',
    `test('nobody reads without a token', async () => {`,
    `  assert.equal((await send('GET', '${first?.path ?? '/'}', undefined, headers)).status, 401)`,
    '})',
  ]
  if (from !== null) return refused
  return [
    ...refused,
    '',
    `test('a name and its password get a token', async () => {`,
    '  const [name, password] = [randomUUID(), randomUUID()]',
    '  await createUser(name, password)',
    `  const wrong = await send('POST', '/login', { name, password: 'wrong' }, headers)`,
    '  assert.equal(wrong.status, 401)',
    `  const { body } = await send('POST', '/login', { name, password }, headers)`,
    `  const response = await send('GET', '/api/tasks', undefined, { Authorization: \`Bearer \${body.token}\` })`,
    '  assert.equal(response.status, 200)',
    '  await User.destroy({ where: { name } })',
    '})',
  ]
}
