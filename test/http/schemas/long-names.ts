// The alias of a joined table is the names of the relations on the way to it. PostgreSQL cuts aliases at 63 bytes.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic, type Options as SequelizeOptions } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage, type Stage } from '../../support/stage.js'

const SHORT = 'predecessor'
const LONG = 'departmentThatThisOneHasGrownOutOf'
const OTHER = 'departmentThatThisOneIsResponsibleTo'
const LONGEST = `${LONG}${'AndIsNot'.repeat(7)}TheSameAs`
const NAMES = [SHORT, LONG, OTHER, LONGEST]

// A column's name may have 63 characters too.
function keyOf(name: string): string {
  return `${name.slice(-50)}Id`
}

interface Models {
  readonly Department: ModelStatic<Model>
}

async function serveDepartments(isHooked: boolean, options: SequelizeOptions = {}): Promise<Stage<Models>> {
  const stage = await openStage<Models>(
    ({ sequelize }, app) => {
      const Department = sequelize.define('Department', { name: DataTypes.STRING }, { timestamps: false })
      for (const name of NAMES) {
        Department.belongsTo(Department, { as: name, foreignKey: keyOf(name), constraints: false })
      }
      if (isHooked) Department.addHook('beforeFind', () => {})
      app.use(crudRouter(Department, { onError: () => undefined }))
      return { Department }
    },
    { sequelize: { minifyAliases: isHooked, ...options } },
  )
  const { Department } = stage
  for (const id of [1, 2, 3]) {
    const before = id === 1 ? null : id - 1
    const keys = Object.fromEntries(NAMES.map((name) => [keyOf(name), before]))
    await Department.create({ name: `${id}`, ...keys })
  }
  return stage
}

const served = await Promise.all([false, true].map((isHooked) => serveDepartments(isHooked)))
// Statements that Sequelize may run again have their values in their text.
const retried = await serveDepartments(false, { retry: { max: 2, match: [/could not serialize/] } })
test.after.always(() => retried.close())
test.after.always(() => Promise.all(served.map((each) => each.close())))

for (const [index, departments] of served.entries()) {
  const where = index === 0 ? '' : ' behind a find hook, where Sequelize shortens names'

  async function namesOf(parameters: Readonly<Record<string, string>>): Promise<string[]> {
    const { status, text, body } = await list(departments, '/api/departments', { select: 'name', ...parameters })
    if (status !== 200) throw new Error(`${status} ${text}`)
    return body.items.map(({ name }: { name: string }) => name)
  }

  test(`a long name is crossed once, and short ones thrice${where}`, async (t) => {
    t.deepEqual(await namesOf({ filter: `${LONG}.name=1`, sort: `-${OTHER}.name` }), ['2'])
    const path = [SHORT, SHORT, SHORT].join('.')
    t.deepEqual(await namesOf({ filter: `${path}=null`, sort: `${SHORT}.name` }), ['1', '2', '3'])
  })

  test(`two paths whose aliases begin alike are two joins${where}`, async (t) => {
    const path = [LONG, LONG].join('.')
    t.deepEqual(await namesOf({ filter: `${path}.name=1,${[LONG, OTHER].join('.')}.name=1` }), ['3'])
    t.deepEqual(await namesOf({ filter: `${path}.name=1,${[LONG, OTHER].join('.')}.name=2` }), [])
    t.deepEqual(await namesOf({ sort: `-${path}.${LONG}.name,-${path}.name` }), ['3', '2', '1'])
    t.deepEqual(await namesOf({ filter: `${path}.${OTHER}=null|${path}.name=1`, pageSize: '1', sort: '-name' }), ['3'])
  })

  test(`the longest names are crossed as often as short ones${where}`, async (t) => {
    const path = [LONGEST, LONGEST, LONGEST].join('.')
    t.deepEqual(await namesOf({ filter: `${path}.name=null`, sort: `-${path}.name,name` }), ['1', '2', '3'])
    t.deepEqual(await namesOf({ filter: `${[LONGEST, LONGEST].join('.')}.name=1` }), ['3'])
  })
}

test('a value that reads like the alias of a join stays as it is', async (t) => {
  const name = `"${LONG}->${LONG}"`
  t.is((await retried.post('/api/departments', { name })).status, 201)
  const filter = `name=${name},${LONG}.${LONG}.name=null`
  const { status, text, body } = await list(retried, '/api/departments', { filter, select: 'name' })
  t.is(status, 200, text)
  t.deepEqual(body.items, [{ name }])
})
