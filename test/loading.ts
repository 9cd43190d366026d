// What a process pays for before its first request: the modules that importing and mounting load, seen in fresh
// processes, and what mounting reads of the models.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { crudRouter } from '../lib/index.js'
import { node, root } from './support/consumer.js'
import { sqliteOptions } from './support/database.js'
import { build } from './support/program.js'

/** The packages that a program has loaded when it is done; all those that could be are CommonJS. */
async function loadedBy(program: string): Promise<readonly string[]> {
  const text = `
    import { createRequire } from 'node:module'
    ${program}
    const paths = Object.keys(createRequire(import.meta.url).cache)
    console.log(JSON.stringify(paths.map((path) => path.split(/node_modules[\\\\/]/).at(-1).match(/^(@[^\\\\/]+.)?[^\\\\/]+/)[0])))`
  const { status, stdout, stderr } = await node(root, '--input-type=module', '--eval', text)
  if (status !== 0) throw new Error(stderr)
  const names: string[] = JSON.parse(stdout)
  return [...new Set(names)].toSorted()
}

const INDEX = JSON.stringify(`./${build}/lib/index.js`)

test('importing the package loads no other than Express, Sequelize, http-problem-details and what these load', async (t) => {
  const base = `import 'express'; import 'sequelize'; import 'http-problem-details'`
  const own = await loadedBy(`import ${INDEX}`)
  t.deepEqual(own, await loadedBy(base))
  t.true(own.includes('express') && own.includes('sequelize'))
})

test('what validates bodies and tokens is loaded where these come, and nowhere else', async (t) => {
  const loaded = async (operations: string, identity: string): Promise<readonly string[]> => {
    const names = await loadedBy(`
    import { Sequelize } from 'sequelize'
    import { crudRouter, jwtIdentity, Operations } from ${INDEX}
    const Player = new Sequelize({ dialect: 'mysql' }).define('Player', {})
    const { resource } = crudRouter(Player, { operations: Operations.${operations}, identity: ${identity} })
    await resource.canValidate
    await resource.identity({ headers: { authorization: 'Bearer x' } }).catch(() => null)`)
    return names.filter((name) => name === 'joi' || name === 'jsonwebtoken')
  }
  t.deepEqual(await loaded('Read', 'async () => null'), [])
  t.deepEqual(
    await loaded('All', "jwtIdentity({ key: 'a secret of tests, long enough for HS256', algorithms: ['HS256'] })"),
    ['joi', 'jsonwebtoken'],
  )
})

/** How often mounting so many associated models asks for the type of one of their attributes. */
function readsOf(count: number): number {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const models = Array.from({ length: count }, (_, index) =>
    sequelize.define(`Model${index}`, { name: DataTypes.STRING, level: DataTypes.INTEGER, ownerId: DataTypes.INTEGER }),
  )
  const [owner] = models
  for (const [index, model] of models.entries()) {
    model.belongsTo(owner ?? model, { as: 'owner', foreignKey: 'ownerId', constraints: false })
    owner?.hasMany(model, { as: `owned${index}`, foreignKey: 'ownerId', constraints: false })
  }
  let reads = 0
  for (const model of models) countReads(model, () => reads++)
  for (const model of models) crudRouter(model)
  return reads
}

function countReads(model: ModelStatic<Model>, read: () => void): void {
  for (const attribute of Object.values(model.getAttributes())) {
    const { type } = attribute
    Object.defineProperty(attribute, 'type', {
      get: () => {
        read()
        return type
      },
    })
  }
}

test('mounting reads as much of a model among many that are associated as of one among few', (t) => {
  const few = readsOf(5) / 5
  t.true(few > 0)
  t.is(readsOf(40) / 40, few)
})
