// What agents come in by, as npm would publish it.

import test from 'ava'
import { consumer, dependencies, node, pack, type Tarball } from './support/consumer.js'

let tarball: Tarball
let folder: string

const PROGRAM = `
const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:', logging: false })
const players = crudRouter(sequelize.define('Player', { name: DataTypes.STRING }))
const identity = { name: 'x', roles: new Set(), permissions: new Set(), claims: {} }
const serve = async () => {
  const [one, other] = InMemoryTransport.createLinkedPair()
  crudMcp({ resources: [players], identity }).connect(one)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(other)
  console.log((await client.listTools()).tools.length)
  await client.close()
}
serve()
`

const FROM: Readonly<Record<string, string>> = {
  'DataTypes, Sequelize': 'sequelize',
  crudRouter: 'sequelize-crud-router',
  crudMcp: 'sequelize-crud-router/mcp',
  'Client, InMemoryTransport': '@modelcontextprotocol/client',
}

test.before(async () => {
  tarball = await pack()
  const protocol = ['@modelcontextprotocol/server', '@modelcontextprotocol/client']
  const names = ['express', 'sequelize', 'sqlite3', ...protocol, ...(await dependencies())]
  const lines = (line: (names: string, from: string) => string): string =>
    Object.entries(FROM)
      .map(([given, from]) => line(given, from))
      .join('\n')
  folder = await consumer(tarball, 'mcp', Object.fromEntries(names.map((name) => [name, name])), {
    'package.json': JSON.stringify({ private: true }),
    'imported.mjs': lines((given, from) => `import { ${given} } from '${from}'`) + PROGRAM,
    'required.cjs': lines((given, from) => `const { ${given} } = require('${from}')`) + PROGRAM,
  })
})
test.after.always(() => tarball?.remove())

for (const file of ['imported.mjs', 'required.cjs']) {
  test(`tools are served by a program that is ${file}`, async (t) => {
    t.deepEqual(await node(folder, file), { status: 0, stdout: '4\n', stderr: '' })
  })
}
