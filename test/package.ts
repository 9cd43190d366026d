// What npm would publish, in projects like those it is meant for: ESM, CommonJS and TypeScript, with Express 4 and 5.

import { join } from 'node:path'
import test from 'ava'
import { consumer, dependencies, node, pack, root, type Tarball } from './support/consumer.js'
import { readPages } from './support/documents.js'

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
import { CrudConfigError, crudRouter, Operations } from 'sequelize-crud-router'

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

/** The package's own declarations are checked too, so nothing is skipped. */
function compilerOptions(module: string, moduleResolution: string, file = 'typed.ts'): string {
  const shared = { target: 'es2022', strict: true, noEmit: true, skipLibCheck: false, types: ['node'] }
  return JSON.stringify({ compilerOptions: { ...shared, module, moduleResolution }, files: [file] })
}

const FILES = {
  'package.json': JSON.stringify({ private: true, type: 'module' }),
  'esm.mjs': IMPORTS + PROGRAM,
  'commonjs.cjs': REQUIRES + PROGRAM,
  'typed.ts': TYPED,
  'node16.json': compilerOptions('node16', 'node16'),
  'bundler.json': compilerOptions('esnext', 'bundler'),
  'pushed.ts': PUSHED,
  'pushed.json': compilerOptions('node16', 'node16', 'pushed.ts'),
}

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

test('the tarball holds the program, its declarations, maps and documents, and nothing else', async (t) => {
  const papers = ['CHANGELOG.md', 'LICENSE', 'package.json', ...(await readPages()).map(({ path }) => path)]
  t.deepEqual(tarball.paths.filter((path) => !path.startsWith('dist/')).toSorted(), papers.toSorted())
  t.deepEqual(
    tarball.paths.filter((path) => /^dist\/(?!lib\/|types\/|grammar\/query\.(js|d\.ts)$)/.test(path)),
    [],
  )
  for (const path of ['dist/lib/index.js', 'dist/lib/index.d.ts', 'dist/lib/index.js.map', 'dist/grammar/query.js']) {
    t.true(tarball.paths.includes(path), path)
  }
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

  for (const resolution of ['node16', 'bundler']) {
    test(`TypeScript with moduleResolution ${resolution} and Express ${version} accepts right options and refuses wrong ones`, async (t) => {
      const tsc = join(root, 'node_modules/typescript/bin/tsc')
      t.deepEqual(await node(folder(version), tsc, '-p', `${resolution}.json`), { status: 0, stdout: '', stderr: '' })
    })
  }
}
