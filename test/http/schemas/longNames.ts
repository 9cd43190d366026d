// PostgreSQL cuts identifiers at 63 bytes, and the alias of a joined table
// is the names of the relations on the way to it.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { list, serveModels } from '../../support/models.js'

const SHORT = 'predecessor'
const LONG = 'departmentThatThisOneHasGrownOutOf'
const OTHER = 'departmentThatThisOneIsResponsibleTo'
const NAMES = [SHORT, LONG, OTHER]

const departments = await serveModels<{ readonly Department: ModelStatic<Model> }>({
  define: (sequelize) => {
    const Department = sequelize.define('Department', { name: DataTypes.STRING }, { timestamps: false })
    for (const name of NAMES)
      Department.belongsTo(Department, { as: name, foreignKey: `${name}Id`, constraints: false })
    return { Department }
  },
  fill: async ({ Department }) => {
    for (const id of [1, 2, 3]) {
      const before = id === 1 ? null : id - 1
      const keys = Object.fromEntries(NAMES.map((name) => [`${name}Id`, before]))
      await Department.create({ name: `${id}`, ...keys })
    }
  },
  mount: (app, { Department }) => {
    app.use(crudRouter(Department, { onError: () => undefined }))
  },
})
test.after.always(() => departments.close())

async function namesOf(parameters: Readonly<Record<string, string>>): Promise<string[]> {
  const { status, text, body } = await list(departments, '/api/departments', { select: 'name', ...parameters })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.items.map(({ name }: { name: string }) => name)
}

test('a long name is crossed once, and short ones thrice', async (t) => {
  t.deepEqual(await namesOf({ filter: `${LONG}.name=1`, sort: `-${OTHER}.name` }), ['2'])
  const path = [SHORT, SHORT, SHORT].join('.')
  t.deepEqual(await namesOf({ filter: `${path}=null`, sort: `${SHORT}.name` }), ['1', '2', '3'])
})

const everywhereElse = databaseName === 'postgres' ? test.failing : test
everywhereElse('two paths whose aliases begin alike are two joins', async (t) => {
  const path = [LONG, LONG].join('.')
  t.deepEqual(await namesOf({ filter: `${path}.name=1,${[LONG, OTHER].join('.')}.name=1` }), ['3'])
  t.deepEqual(await namesOf({ sort: `-${path}.${LONG}.name,-${path}.name` }), ['3', '2', '1'])
})
