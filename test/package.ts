// What npm would publish, in projects like those it is meant for: ESM, CommonJS and TypeScript, with Express 4 and 5.
// Their test runners have a file of their own.

import { join } from 'node:path'
import test from 'ava'
import { consumer, dependencies, node, pack, root, type Tarball } from './support/consumer.js'
import { consumerTest, IMPORTS as TEST_IMPORTS } from './support/consumerTest.js'

const IMPORTS = `
import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter } from 'sequelize-crud-router'
`

const REQUIRES = `
const express = require('express')
const { DataTypes, Sequelize } = require('sequelize')
const { crudRouter } = require('sequelize-crud-router')
`

/** Mounts a model, answers one request over HTTP and prints the answer. */
const PROGRAM = `
async function main() {
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: process.argv[2], logging: false })
  const Player = sequelize.define('Player', { name: { type: DataTypes.STRING(50), allowNull: false } }, { timestamps: false })
  await sequelize.sync({ force: true })
  await Player.bulkCreate([{ name: 'Jan' }, { name: 'Ana' }])
  const app = express()
  app.use(crudRouter(Player))
  const server = app.listen(0, '127.0.0.1', async () => {
    const answer = await fetch('http://127.0.0.1:' + server.address().port + '/api/players?filter=Name^J')
    const body = await answer.json()
    console.log(answer.status, JSON.stringify(body.items))
    server.close()
    server.closeAllConnections()
    await sequelize.close()
  })
}

main()
`

const TYPED = `
import express from 'express'
import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  Sequelize,
} from 'sequelize'
import { CrudConfigError, crudRouter, type FilterNode, Operations } from 'sequelize-crud-router'
import { type FilterBuilder, filter, parseFilter, QuerySyntaxError } from 'sequelize-crud-router/language'

class Player extends Model<InferAttributes<Player>, InferCreationAttributes<Player>> {
  declare id: CreationOptional<number>
  declare name: string
}

const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:' })
Player.init({ id: { type: DataTypes.INTEGER, primaryKey: true }, name: DataTypes.STRING }, { sequelize })

const app = express()
app.use(crudRouter(Player))
app.use('/v2', crudRouter(Player, { operations: Operations.AllWithBulk, fields: { name: { exclude: 'list' } } }))

// @ts-expect-error: the model has no such attribute
crudRouter(Player, { fields: { nmae: { exclude: 'list' } } })
// @ts-expect-error: there is no such option
crudRouter(Player, { opertions: Operations.All })

export const code: string = new CrudConfigError('SDTO011', 'no such key').code

export const tree: FilterNode = parseFilter(filter.eq('Name', 'Jan'))
export const offsetOf = (error: unknown): number => (error instanceof QuerySyntaxError ? error.offset : 0)
export const equal: FilterBuilder['eq'] = filter.eq
// @ts-expect-error: there is no such operator
filter.equals('Name', 'Jan')
`

/** A program that does both: what it required knows what it imported, and the other way round. */
const BOTH = `
import { createRequire } from 'node:module'
import * as imported from 'sequelize-crud-router'
import * as language from 'sequelize-crud-router/language'
const require = createRequire(import.meta.url)
const required = require('sequelize-crud-router')
const { DataTypes, Sequelize } = require('sequelize')

const same = (one, other) => Object.keys(other).every((name) => one[name] === other[name])
const languages = [language, require('sequelize-crud-router/language')]
const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:' })
const Team = sequelize.define('Team', { name: DataTypes.STRING })
const Player = sequelize.define('Player', { name: DataTypes.STRING })
Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
imported.crudRouter(Player)
required.crudRouter(Team)
const included = [
  required.queryOf(Player).toFindOptions({ filter: 'Team.Name=Lakers' }),
  imported.queryOf(Team).toFindOptions({ filter: 'Players.Any(Name=Jan)' }),
]
const names = (one) => Object.keys(one).filter((name) => name !== 'module.exports').toSorted().join()
console.log(names(imported) === names(required), same(imported, required), languages.every((one) => names(one) === names(language) && same(required, language)), included.length)
`

/** For projects with the optional peer; in those above its types are missing, which must not matter. */
const PUSHED = `
import { type Model, type ModelStatic } from 'sequelize'
import { crudHub, crudRouter } from 'sequelize-crud-router'
import { Server } from 'socket.io'

export function pushed(player: ModelStatic<Model>): void {
  const router = crudRouter(player, { push: { io: new Server() } })
  router.resource.hub?.on('connection', (socket) => console.log(socket.id.length))
  router.notify?.updated(1)
  crudHub(player, { io: new Server(), path: '/players' }).notify.deleted({ id: 1 })
  // @ts-expect-error: this is no server
  crudRouter(player, { push: { io: 'localhost' } })
  // @ts-expect-error: sockets have no such member
  router.resource.hub?.on('connection', (socket) => socket.identity)
}
`

/** A TypeScript project: its compiler, where it compiles to, what it compiles, and which of that are its tests. */
interface TypeScript {
  readonly compiler: 'typescript' | 'typescript5'
  readonly module: string
  readonly files: readonly string[]
  readonly tests: readonly string[]
}

const BOTH_KINDS = { files: ['typed.ts', 'module.mts', 'required.cts'], tests: ['module.mjs', 'required.cjs'] }

/** By `moduleResolution`. The oldest of them is gone from TypeScript 7. */
const TYPESCRIPT = {
  node10: { compiler: 'typescript5', module: 'commonjs', files: ['typed.ts', 'module.ts'], tests: ['module.js'] },
  node16: { compiler: 'typescript', module: 'node16', ...BOTH_KINDS },
  nodenext: { compiler: 'typescript', module: 'nodenext', ...BOTH_KINDS },
  bundler: { compiler: 'typescript', module: 'esnext', files: ['typed.ts', 'module.ts'], tests: ['module.js'] },
} as const satisfies Record<string, TypeScript>

const RESOLUTIONS = Object.keys(TYPESCRIPT) as readonly (keyof typeof TYPESCRIPT)[]

/** The package's own declarations are checked too, so nothing is skipped. */
function compilerOptions(moduleResolution: string, module: string, files: readonly string[]): string {
  const shared = { target: 'es2022', strict: true, skipLibCheck: false, esModuleInterop: true, types: ['node'] }
  const output = { rootDir: '.', outDir: moduleResolution }
  return JSON.stringify({ compilerOptions: { ...shared, ...output, module, moduleResolution }, files })
}

function ownTest(storage: string): string {
  return `import { test } from 'node:test'\n${TEST_IMPORTS}${consumerTest(storage)}`
}

const FILES = {
  'package.json': JSON.stringify({ private: true, type: 'module' }),
  'esm.mjs': IMPORTS + PROGRAM,
  'commonjs.cjs': REQUIRES + PROGRAM,
  'both.mjs': BOTH,
  'wrong.mjs': `import { crudRouter } from 'sequelize-crud-router'\ncrudRouter('Player', { operation: 3 })\n`,
  'typed.ts': TYPED,
  'module.ts': ownTest('module.sqlite'),
  'module.mts': ownTest('module.sqlite'),
  'required.cts': ownTest('required.sqlite'),
  'node10/package.json': JSON.stringify({ type: 'commonjs' }),
  'pushed.ts': PUSHED,
  'pushed.json': compilerOptions('node16', 'node16', ['pushed.ts']),
  ...Object.fromEntries(
    RESOLUTIONS.map((resolution) => {
      const { module, files } = TYPESCRIPT[resolution]
      return [`${resolution}.json`, compilerOptions(resolution, module, files)]
    }),
  ),
}

const ENTRIES = [
  'index',
  ...['language', 'client', 'react-admin', 'refine', 'mcp', 'node-sqlite'].map((name) => `${name}/index`),
]

/** The files that package.json names. */
const EXPECTED = [
  ...ENTRIES.flatMap((entry) => ['js', 'mjs', 'd.ts', 'd.mts'].map((extension) => `dist/lib/${entry}.${extension}`)),
  'dist/browser/lib/language/index.js',
  'dist/browser/grammar/query.js',
]

/** Bytes of the tarball, bytes of its files, and their number. */
const LIMITS = { packed: 450_000, unpacked: 2_000_000, files: 250 }

const INSTALLED = { 4: ['express4', '@types/express4'], 5: ['express', '@types/express'] } as const
const VERSIONS = [4, 5] as const

let tarball: Tarball
const folders = new Map<number, string>()

test.before(async () => {
  tarball = await pack()
  const shared = [...(await dependencies()), 'sequelize', 'sqlite3', '@types/node']
  for (const version of VERSIONS) {
    const [express, types] = INSTALLED[version]
    const links = { ...Object.fromEntries(shared.map((name) => [name, name])), express, '@types/express': types }
    folders.set(version, await consumer(tarball, `express${version}`, links, FILES))
  }
})

test('TypeScript with Socket.IO installed knows the server that push takes and the namespace that it gives', async (t) => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const names = [...(await dependencies()), 'sequelize', 'express', 'socket.io', '@types/express', '@types/node']
  const links = Object.fromEntries(names.map((name) => [name, name]))
  const pushing = await consumer(tarball, 'socket.io', links, FILES)
  t.deepEqual(await node(pushing, tsc, '-p', 'pushed.json'), { status: 0, stdout: '', stderr: '' })
})

test.after.always(() => tarball?.remove())

function folder(version: number): string {
  return folders.get(version) ?? ''
}

test('the tarball holds programs, declarations, the README, a page for agents and the changelog, and is small', async (t) => {
  const papers = ['AGENTS.md', 'CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
  t.deepEqual(tarball.paths.filter((path) => !path.startsWith('dist/')).toSorted(), papers)
  for (const path of EXPECTED) t.true(tarball.paths.includes(path), path)
  const kinds =
    /^dist\/(?:browser\/)?(?:package\.json|check\.js|client\.js|grammar\/query\.js|lib\/.*(?:\.d\.ts|\.d\.mts|\.mjs|\.js))$/
  for (const path of tarball.paths.filter((one) => one.startsWith('dist/'))) t.regex(path, kinds)
  t.true(tarball.bytes <= LIMITS.packed, `${tarball.bytes} bytes`)
  t.true(tarball.unpacked <= LIMITS.unpacked, `${tarball.unpacked} bytes unpacked`)
  t.true(tarball.paths.length <= LIMITS.files, `${tarball.paths.length} files`)
})

test("what is imported and what is required are one and the same: they share every export and know each other's resources", async (t) => {
  t.deepEqual(await node(folder(5), 'both.mjs'), { status: 0, stdout: 'true true true 2\n', stderr: '' })
})

test('a wrong option ends a program with the name of the error, although names in the package are shortened', async (t) => {
  const { status, stderr } = await node(folder(5), 'wrong.mjs')
  t.is(status, 1)
  t.regex(stderr, /^CrudConfigError: The first argument must be a Sequelize model class/m)
})

for (const version of VERSIONS) {
  for (const [program, how] of [
    ['esm.mjs', 'imported by an ES module'],
    ['commonjs.cjs', 'required by CommonJS'],
  ] as const) {
    test(`the package ${how} with Express ${version} answers a request, without a warning`, async (t) => {
      t.deepEqual(await node(folder(version), program, `${program}.sqlite`), {
        status: 0,
        stdout: '200 [{"id":1,"name":"Jan"}]\n',
        stderr: '',
      })
    })
  }

  for (const resolution of RESOLUTIONS) {
    // How modules are found is the same for both; Express's own types are what differs.
    if (version === 4 && resolution !== 'node16') continue
    // Each keeps both of a small machine's cores busy by itself.
    test.serial(
      `TypeScript with moduleResolution ${resolution} and Express ${version} accepts right options and refuses wrong ones, and what it makes of the project's own test passes`,
      async (t) => {
        const { compiler, tests } = TYPESCRIPT[resolution]
        const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
        const own = folder(version)
        t.deepEqual(await node(own, tsc, '-p', `${resolution}.json`), { status: 0, stdout: '', stderr: '' })
        // One after the other: those of several resolutions share the names of their databases.
        const { status, stdout, stderr } = await node(
          join(own, resolution),
          '--test',
          '--test-concurrency=1',
          '--test-reporter=tap',
          ...tests,
        )
        t.is(status, 0, stdout + stderr)
        t.regex(stdout, new RegExp(`^# pass ${2 * tests.length}$`, 'm'))
      },
    )
  }
}
