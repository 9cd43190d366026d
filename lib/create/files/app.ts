import { toLiteral } from '../text.js'
import { createForTypeScript, extensionOf, joinLines, type Plan, writeImport } from './plan.js'

/** Writes the file with routers, documentation, tools and the start of the server. */
export function writeApp(plan: Plan): string {
  const { docs, agents, live, name } = plan
  return joinLines(
    ...writeImports(plan),
    '',
    live && 'const io = new Server()',
    ...writeRouters(plan),
    '',
    `export const app = express().disable('x-powered-by')`,
    hasAccounts(plan) && 'app.use(login)',
    'app.use(api)',
    docs && `app.use(apiDocs({ resources: api.resources, info: { title: ${toLiteral(name)}, version: '1.0.0' } }))`,
    ...(agents ? writeAgents(plan) : []),
    'app.use(() => {',
    '  throw new Problem({ status: 404 })',
    '})',
    'app.use(problemHandler())',
    '',
    ...writeStart(plan),
  )
}

/** Whether the application has a table of accounts. Applications for an existing database have no such table. */
function hasAccounts({ login, from }: Plan): boolean {
  return login && from === null
}

function writeImports(plan: Plan): readonly (string | false)[] {
  const { login, docs, agents, live, language, written } = plan
  const file = extensionOf(plan)
  const names = written.models.map(({ identifier }) => identifier)
  const exported = [...(docs ? ['apiDocs'] : []), ...(login ? ['authenticated'] : [])]
  const ofLogin = hasAccounts(plan) ? ['createFirstUser', 'identity', 'login'] : ['identity']
  return [
    `import { once } from 'node:events'`,
    `import { createServer } from 'node:http'`,
    language === 'typescript' && `import type { AddressInfo } from 'node:net'`,
    `import express from 'express'`,
    writeImport([...exported, 'createCrud', 'Problem', 'problemHandler'], 'sequelize-crud-router'),
    agents && `import { crudMcp } from 'sequelize-crud-router/mcp'`,
    live && `import { Server } from 'socket.io'`,
    login && writeImport(ofLogin, `./login.${file}`),
    writeImport([...names, 'sequelize'], `./models.${file}`),
  ]
}

function writeStart(plan: Plan): readonly (string | false)[] {
  const { login, live, from } = plan
  const typed = createForTypeScript(plan)
  const address = plan.language === 'typescript' ? '(server.address() as AddressInfo)' : 'server.address()'
  return [
    '/** Serves the application. `close` waits for requests in progress, then closes the database. */',
    `export async function start(port${typed(': number')}) {`,
    from === null && '  await sequelize.sync()',
    hasAccounts(plan) && '  await createFirstUser()',
    '  const server = createServer(app)',
    live && '  io.attach(server)',
    ...(login ? ['  server.listen(port)'] : LOCAL_LINES),
    `  await once(server, 'listening')`,
    '  async function close() {',
    ...writeClosing(live),
    '  }',
    `  return { port: ${address}.port, close }`,
    '}',
  ]
}

const LOCAL_LINES: readonly string[] = [
  '  // Without a login only this machine can connect. HOST=0.0.0.0 opens the server to others.',
  `  server.listen(port, process.env.HOST ?? '127.0.0.1')`,
]

function writeRouters({ login, live, written }: Plan): readonly string[] {
  const names = written.models.map(({ identifier }) => identifier)
  const defaults = [
    ...(login ? ['identity', 'authorizePolicy: authenticated'] : ['requirePolicies: false']),
    ...(live ? ['io', 'push: true'] : []),
  ]
  const options = written.models.flatMap(({ model, options }) => (options === null ? [] : [`  ${model}: ${options},`]))
  const list = `[${names.join(', ')}]`
  const models = list.length <= 80 ? list : `[\n${names.map((name) => `  ${name},`).join('\n')}\n]`
  return [
    ...(login ? [] : ['// Everybody may do everything. Restrict it with policies: authorizePolicy, deletePolicy, ...']),
    `const crud = createCrud({ ${defaults.join(', ')} })`,
    options.length === 0
      ? `export const api = crud.routers(${models})`
      : `export const api = crud.routers(${models}, {\n${options.join('\n')}\n})`,
  ]
}

/** Writes the route of the tools for agents. The tools are read-only and need an identity. */
function writeAgents(plan: Plan): readonly string[] {
  if (plan.login) return [`app.all('/mcp', crudMcp({ resources: api.resources }))`]
  const strings = createForTypeScript(plan)('<string>')
  return [
    '// Agents need an identity. Here all agents share one.',
    `const agent = { name: 'agent', roles: new Set${strings}(), permissions: new Set${strings}(), claims: {} }`,
    `app.all('/mcp', crudMcp({ resources: api.resources, identity: () => agent }))`,
  ]
}

function writeClosing(isLive: boolean): readonly string[] {
  if (isLive) return ['    await api.close()', '    await io.close()', '    await sequelize.close()']
  return [
    `    const closed = once(server, 'close')`,
    '    server.close()',
    '    await api.close()',
    '    await closed',
    '    await sequelize.close()',
  ]
}

export function writeServer(plan: Plan): string {
  const isTyped = createForTypeScript(plan)
  const { docs, agents, written } = plan
  const [first] = written.models
  return joinLines(
    `import { start } from './app.${extensionOf(plan)}'`,
    '',
    'const { port, close } = await start(Number(process.env.PORT ?? 3000))',
    `console.log(\`http://localhost:\${port}${first?.path ?? ''}\`)`,
    docs && `console.log(\`http://localhost:\${port}/docs\`)`,
    agents && `console.log(\`http://localhost:\${port}/mcp for agents\`)`,
    '',
    '// npm and the terminal may both send the signal.',
    `let closing${isTyped(': Promise<void> | undefined')}`,
    `for (const signal of ['SIGINT', 'SIGTERM']) {`,
    '  process.on(signal, () => {',
    '    closing ??= close()',
    '  })',
    '}',
  )
}
