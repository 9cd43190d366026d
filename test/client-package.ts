// The second package, which has the client alone, in a project that has nothing else.

import { join } from 'node:path'
import test from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../lib/index.js'
import { consumer, node, pack, root, type Tarball } from './support/consumer.js'
import { openStage } from './support/stage.js'

const PROGRAM = `
async function main() {
  const players = resource(process.argv[2])
  const created = await players.create({ name: 'Jan' })
  const page = await players.list({ filter: filter.eq('Name', 'Jan') })
  const refused = await players.create({}).catch((error) => error)
  console.log(created.name, page.totalCount, refused instanceof ProblemError, refused.code)
  const acting = withActions(process.argv[2], { actions: { rename: { on: 'record', method: 'post' } } })
  const renamed = await acting.actions.rename(created, { name: 'Ola' })
  console.log(renamed.name, typeof singleton)
}

main()
`

const TYPED = `
import { filter, type Page, resource } from 'sequelize-crud-router-client'
import { resource as withActions, singleton } from 'sequelize-crud-router-client/actions'

interface Player {
  readonly id: number
  readonly name: string
}

const players = resource<Player>('/api/players')

export async function names(): Promise<readonly string[]> {
  const page: Page<Player> = await players.list({ filter: filter.eq('Name', 'Jan'), sort: '-name' })
  // @ts-expect-error: records have no such member
  page.items[0]?.nmae
  return page.items.map(({ name }) => name)
}

interface Shapes {
  readonly row: Player
  readonly item: Player
  readonly create: { readonly name: string }
  readonly patch: { readonly name?: string }
  readonly key: 'id'
  readonly actions: {
    readonly rename: { readonly on: 'record'; readonly method: 'post'; readonly input: { name: string }; readonly output: Player }
  }
}

const acting = withActions<Shapes>('/api/players', { actions: { rename: { on: 'record', method: 'post' } } })

export async function rename(): Promise<string> {
  // @ts-expect-error: the input has no such member
  await acting.actions.rename(1, { nmae: 'Ola' })
  const { name } = await acting.actions.rename(1, { name: 'Ola' })
  return name + (await singleton<Player>('/api/me').get()).name
}
`

function compilerOptions(module: string, file: string): string {
  const shared = {
    target: 'es2022',
    lib: ['es2023', 'dom'],
    strict: true,
    skipLibCheck: false,
    types: [],
    noEmit: true,
  }
  return JSON.stringify({ compilerOptions: { ...shared, module, moduleResolution: module }, files: [file] })
}

/** Without socket.io-client, `live` cannot connect, and no retry would help. */
const LIVE = `
import { resource } from 'sequelize-crud-router-client'
process.on('uncaughtException', ({ code }) => console.log('uncaught', code))
resource('http://localhost:1/api/players').live({ onState: (state, error) => console.log(state, error?.code) })
`

const NAMES = '{ filter, ProblemError, resource }'
const FILES = {
  'package.json': JSON.stringify({ private: true }),
  'imported.mjs': `import ${NAMES} from 'sequelize-crud-router-client'
import { resource as withActions, singleton } from 'sequelize-crud-router-client/actions'
${PROGRAM}`,
  'required.cjs': `const ${NAMES} = require('sequelize-crud-router-client')
const { resource: withActions, singleton } = require('sequelize-crud-router-client/actions')
${PROGRAM}`,
  'live.mjs': LIVE,
  'typed.mts': TYPED,
  'typed.cts': TYPED,
  'mts.json': compilerOptions('nodenext', 'typed.mts'),
  'cts.json': compilerOptions('nodenext', 'typed.cts'),
}

let tarball: Tarball
let folder: string

test.before(async () => {
  tarball = await pack(join(root, '.packages/client'))
  folder = await consumer(tarball, 'project', {}, FILES, 'sequelize-crud-router-client')
})
test.after.always(() => tarball?.remove())

test('the package has its programs and types, and is small', (t) => {
  const entries = ['index', 'actions'].flatMap((name) => ['cjs', 'd.cts', 'd.ts', 'js'].map((end) => `${name}.${end}`))
  const shared = ['resource.cjs', 'resource.js', 'types.d.cts']
  const expected = ['LICENSE', 'README.md', 'package.json', ...entries, ...shared]
  t.deepEqual(tarball.paths.toSorted(), expected.toSorted())
  t.true(tarball.bytes <= 45_000, `${tarball.bytes} bytes`)
})

for (const program of ['imported.mjs', 'required.cjs']) {
  test(`${program} reads, writes and is refused, without another package`, async (t) => {
    const stage = await openStage(({ sequelize }, app) => {
      const Player = sequelize.define(
        'Player',
        { name: { type: DataTypes.STRING, allowNull: false } },
        { timestamps: false },
      )
      app.use(
        crudRouter(Player, {
          actions: {
            rename: {
              on: 'record',
              method: 'post',
              input: Joi.object({ name: Joi.string().required() }),
              handler: ({ record, input }) => void record.set(input as object),
            },
          },
        }),
      )
      return { Player }
    })
    try {
      const outcome = await node(folder, program, `${stage.url}/api/players`)
      t.deepEqual(outcome, { status: 0, stdout: 'Jan 1 true validation\nOla function\n', stderr: '' })
    } finally {
      await stage.close()
    }
  })
}

test('live says that socket.io-client is missing', async (t) => {
  const { stdout } = await node(folder, 'live.mjs')
  t.is(stdout, 'connecting undefined\nrefused ERR_MODULE_NOT_FOUND\nuncaught ERR_MODULE_NOT_FOUND\n')
})

for (const project of ['mts.json', 'cts.json']) {
  test(`TypeScript by ${project} knows the client without the types of Sequelize or Node`, async (t) => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    t.deepEqual(await node(folder, tsc, '-p', project), { status: 0, stdout: '', stderr: '' })
  })
}
