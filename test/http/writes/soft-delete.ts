// Soft delete: a record is active or deleted, DELETE marks it and restore unmarks it. Nothing but a list that asks for it
// sees a deleted one. A paranoid model keeps its own mark.

import test, { type ExecutionContext } from 'ava'
import {
  DataTypes,
  type Model,
  type ModelAttributes,
  type ModelOptions,
  type ModelStatic,
  type Sequelize,
} from 'sequelize'
import { CrudConfigError, type CrudOptions, crudRouter, Operations, Problem } from '../../../lib/index.js'
import { databaseName, openDatabase } from '../../support/database.js'
import { listPath } from '../../support/league.js'
import type { Answer } from '../../support/server.js'
import { asUser, identityFromHeader, openStage, readStoredRow, type Stage, timeOf } from '../../support/stage.js'

const EVERYTHING = Operations.AllWithBulk | Operations.Restore

/** One way of keeping the mark. The same must be true of all of them. */
interface Variant {
  readonly title: string
  readonly softDelete: NonNullable<CrudOptions['softDelete']>
  readonly attributes: ModelAttributes
  readonly model: ModelOptions
  /** What the host's code makes of the models, which decides the way that reads and writes take. */
  readonly prepare?: (model: ModelStatic<Model>) => void
  readonly options?: CrudOptions
  /** The attributes that hold the mark. */
  readonly isDeleted: string | null
  readonly deletedAt: string
  /** Those of them that responses have. */
  readonly shown: readonly string[]
  /** The date of records that are not deleted. Default: null. */
  readonly living?: string
}

const nothing = (): void => undefined

const NEVER = '9999-12-31T00:00:00.000Z'
const neverDeleted: ModelAttributes = { deletedAt: { type: DataTypes.DATE(3), defaultValue: new Date(NEVER) } }

const VARIANTS: readonly Variant[] = [
  {
    title: 'with the attributes added',
    softDelete: true,
    attributes: {},
    model: { timestamps: false },
    isDeleted: 'isDeleted',
    deletedAt: 'deletedAt',
    shown: [],
  },
  {
    title: 'with the attributes declared',
    softDelete: true,
    attributes: { isDeleted: DataTypes.BOOLEAN, deletedAt: DataTypes.DATE(3) },
    model: { timestamps: false },
    isDeleted: 'isDeleted',
    deletedAt: 'deletedAt',
    shown: ['isDeleted', 'deletedAt'],
  },
  {
    title: 'with custom names, one of them declared',
    softDelete: { isDeleted: 'gone', deletedAt: 'goneSince' },
    attributes: { gone: { type: DataTypes.BOOLEAN, allowNull: false, field: 'is_gone' } },
    model: { timestamps: true, underscored: true },
    isDeleted: 'gone',
    deletedAt: 'goneSince',
    shown: ['gone'],
  },
  {
    title: 'on a paranoid model',
    softDelete: true,
    attributes: {},
    model: { paranoid: true },
    isDeleted: null,
    deletedAt: 'deletedAt',
    shown: ['deletedAt'],
  },
  {
    title: 'on a paranoid model with a mark of its own name',
    softDelete: true,
    attributes: {},
    model: { paranoid: true, deletedAt: 'removedAt', underscored: true },
    isDeleted: null,
    deletedAt: 'removedAt',
    shown: ['removedAt'],
  },
  {
    title: 'on a paranoid model whose date has a default',
    softDelete: true,
    attributes: neverDeleted,
    model: { paranoid: true },
    isDeleted: null,
    deletedAt: 'deletedAt',
    shown: ['deletedAt'],
    living: NEVER,
  },
  {
    title: 'on a paranoid model whose date has a default, with hooks of its own',
    softDelete: true,
    attributes: neverDeleted,
    model: { paranoid: true },
    prepare: (model) => {
      for (const hook of ['afterFind', 'afterDestroy', 'beforeRestore', 'beforeUpdate'] as const) {
        model.addHook(hook, nothing)
      }
    },
    isDeleted: null,
    deletedAt: 'deletedAt',
    shown: ['deletedAt'],
    living: NEVER,
  },
  {
    title: 'on a model with hooks of its own',
    softDelete: true,
    attributes: {},
    model: { timestamps: false },
    prepare: (model) => {
      for (const hook of ['afterFind', 'beforeSave', 'beforeDestroy', 'beforeUpdate'] as const) {
        model.addHook(hook, nothing)
      }
    },
    isDeleted: 'isDeleted',
    deletedAt: 'deletedAt',
    shown: [],
  },
  {
    title: 'on a paranoid model with hooks of its own',
    softDelete: true,
    attributes: {},
    model: { paranoid: true },
    prepare: (model) => {
      for (const hook of ['afterFind', 'afterDestroy', 'beforeRestore', 'beforeBulkDestroy'] as const) {
        model.addHook(hook, nothing)
      }
    },
    isDeleted: null,
    deletedAt: 'deletedAt',
    shown: ['deletedAt'],
  },
  {
    title: 'with hooks in the options',
    softDelete: true,
    attributes: {},
    model: { timestamps: false },
    options: { hooks: { beforeDelete: nothing, afterRestore: nothing, beforeUpdate: nothing } },
    isDeleted: 'isDeleted',
    deletedAt: 'deletedAt',
    shown: [],
  },
]

interface World extends Stage {
  readonly Item: ModelStatic<Model>
}

/**
 * Teams: 1 Lakers, 2 Celtics (deleted), 3 Warriors. Players: 1 Ann and 2 Bob (deleted) of team 1, 3 Cid of the
 * deleted team 2, 4 Dan (deleted) of team 3, 5 Eve of none. Items are for tests that write.
 */
async function openWorld({ softDelete, attributes, model, prepare, options }: Variant): Promise<World> {
  const items: ModelStatic<Model>[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const define = (name: string, own: ModelAttributes): ModelStatic<Model> => {
      const defined = sequelize.define(name, { ...own, ...attributes }, model)
      prepare?.(defined)
      return defined
    }
    const Team = define('Team', { name: DataTypes.STRING })
    const Player = define('Player', { name: DataTypes.STRING })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    const Item = define('Item', {
      name: { type: DataTypes.STRING(50), validate: { len: [2, 50] } },
      code: { type: DataTypes.STRING(20), unique: true },
    })
    items.push(Item)
    for (const each of [Team, Player, Item]) {
      app.use(crudRouter(each, { softDelete, operations: EVERYTHING, ...options }))
    }
    app.use(crudRouter(Player, { softDelete, flatten: ['team'], route: 'api/flat' }))
  })
  const [Item] = items
  if (Item === undefined) throw new TypeError('no model was defined')
  for (const name of ['Lakers', 'Celtics', 'Warriors']) await created(stage, '/api/teams', { name })
  const players: readonly (readonly [name: string, teamId: number | null])[] = [
    ['Ann', 1],
    ['Bob', 1],
    ['Cid', 2],
    ['Dan', 3],
    ['Eve', null],
  ]
  for (const [name, teamId] of players) await created(stage, '/api/players', { name, teamId })
  for (const path of ['/api/players/2', '/api/players/4', '/api/teams/2']) {
    const { status } = await stage.delete(path)
    if (status !== 204) throw new Error(`${path}: ${status}`)
  }
  return { ...stage, Item }
}

async function created(stage: Stage, path: string, body: object): Promise<Answer['body']> {
  const answer = await stage.post(path, body)
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

const ids = ({ body }: Answer): number[] => body.items.map(({ id }: { id: number }) => id)

const PLAYERS: readonly (readonly [filter: string, ids: readonly number[]])[] = [
  ['Name=Bob', []],
  ['Name!=Ann', [3, 5]],
  ['Name=in=Ann;Bob', [1]],
  ['Name=Ann|Name=Bob', [1]],
  ['Team.Name=Lakers', [1]],
  ['Team.Name=Celtics', []],
  ['Team.Name!=Lakers', [3, 5]],
  ['Team.Name!=Celtics', [1, 3, 5]],
  ['Team.Name=null', [3, 5]],
  ['Team=null', [3, 5]],
  ['Team!=null', [1]],
  ['Team.Players.Count=1', [1]],
  ['Team.Players.Count=0', [3, 5]],
  ['Team.Players.Name=Bob', []],
  ['Team.Players.Team.Name=Lakers', [1]],
]

const TEAMS: readonly (readonly [filter: string, ids: readonly number[]])[] = [
  ['Name=Celtics', []],
  ['Players.Name=Bob', []],
  ['Players.Any.Name=Ann', [1]],
  ['Players.Any(Name=Bob)', []],
  ['Players.Any(Name=in=Ann;Bob)', [1]],
  ['Players.All.Name=Ann', [1, 3]],
  ['Players.All(Name=Ann)', [1, 3]],
  ['Players.None.Name=Bob', [1, 3]],
  ['Players.None.Name=Ann', [3]],
  ['Players.Count=1', [1]],
  ['Players.Count=2', []],
  ['Players.Count=0', [3]],
  ['Players.Count(Name=Bob)=0', [1, 3]],
  ['Players.Team.Name=Lakers', [1]],
]

for (const variant of VARIANTS) {
  const { title, isDeleted, deletedAt, shown, living = null } = variant
  const assertLiving = (t: ExecutionContext, row: Record<string, unknown> | null): void => {
    if (isDeleted !== null) t.false(row?.[isDeleted])
    if (living === null) t.is(row?.[deletedAt], null)
    else t.is(timeOf(row?.[deletedAt]), Date.parse(living))
  }
  const opened = openWorld(variant)
  test.after.always(async () => (await opened).close())

  for (const [filter, expected] of PLAYERS) {
    test(`${title}, the players with ${filter} are ${expected.join(', ') || 'none'}`, async (t) => {
      const world = await opened
      t.deepEqual(ids(await world.get(listPath('/api/players', { filter }))), expected)
      const { body } = await world.get(listPath('/api/players', { filter, count: true }))
      t.deepEqual(body, { count: expected.length })
    })
  }

  for (const [filter, expected] of TEAMS) {
    test(`${title}, the teams with ${filter} are ${expected.join(', ') || 'none'}`, async (t) => {
      const world = await opened
      t.deepEqual(ids(await world.get(listPath('/api/teams', { filter }))), expected)
      const { body } = await world.get(listPath('/api/teams', { filter, count: true }))
      t.deepEqual(body, { count: expected.length })
    })
  }

  test(`${title}, GET by id of a deleted record is the 404 of one that never was`, async (t) => {
    const world = await opened
    const deleted = await world.get('/api/players/2')
    const missing = await world.get('/api/players/99')
    t.is(deleted.status, 404)
    t.is(deleted.body.title, 'Not Found')
    t.is(deleted.text, missing.text)
    t.is((await world.send('HEAD', '/api/players/2')).status, 404)
  })

  test(`${title}, every list mode leaves deleted records out`, async (t) => {
    const world = await opened
    const page = await world.get('/api/players')
    t.deepEqual(ids(page), [1, 3, 5])
    t.is(page.body.totalCount, 3)
    t.is(page.headers.get('x-total-count'), '3')
    t.deepEqual(ids(await world.get('/api/players?pageSize=2&page=2')), [5])
    t.deepEqual((await world.get('/api/players?count=true')).body, { count: 3 })
    const first = await world.get('/api/players?cursor=&pageSize=2')
    t.deepEqual(ids(first), [1, 3])
    t.deepEqual(ids(await world.get(`/api/players?cursor=${first.body.nextCursor}&pageSize=2`)), [5])
    const { body } = await world.get('/api/players?select=name')
    t.deepEqual(body.items, [{ name: 'Ann' }, { name: 'Cid' }, { name: 'Eve' }])
    t.deepEqual(ids(await world.get('/api/players?name=Bob')), [])
    t.deepEqual(ids(await world.get('/api/players?includeDeleted=false')), [1, 3, 5])
    t.deepEqual(ids(await world.get('/api/players?includeDeleted=')), [1, 3, 5])
  })

  test(`${title}, includeDeleted=true brings deleted records into every list mode`, async (t) => {
    const world = await opened
    const page = await world.get('/api/players?includeDeleted=true')
    t.deepEqual(ids(page), [1, 2, 3, 4, 5])
    t.is(page.body.totalCount, 5)
    t.deepEqual(ids(await world.get('/api/players?includeDeleted=TRUE&pageSize=2&page=2')), [3, 4])
    t.deepEqual((await world.get('/api/players?includeDeleted=true&count=true')).body, { count: 5 })
    const first = await world.get('/api/players?includeDeleted=true&cursor=&pageSize=3')
    t.deepEqual(ids(first), [1, 2, 3])
    t.deepEqual(ids(await world.get(`/api/players?includeDeleted=true&cursor=${first.body.nextCursor}`)), [4, 5])
    const { body } = await world.get('/api/players?includeDeleted=true&select=name&sort=-Name')
    t.deepEqual(
      body.items.map(({ name }: { name: string }) => name),
      ['Eve', 'Dan', 'Cid', 'Bob', 'Ann'],
    )
    t.deepEqual(ids(await world.get('/api/players?includeDeleted=true&name=Bob')), [2])
    t.deepEqual(
      ids(await world.get(listPath('/api/players', { includeDeleted: true, filter: 'Name>=Cid' }))),
      [3, 4, 5],
    )
    const counted = { includeDeleted: true, count: true, filter: 'Name=Bob' }
    t.deepEqual((await world.get(listPath('/api/players', counted))).body, { count: 1 })
  })

  test(`${title}, includeDeleted=true does not show deleted records behind relation paths`, async (t) => {
    const world = await opened
    const list = async (path: string, filter: string): Promise<number[]> =>
      ids(await world.get(listPath(path, { filter, includeDeleted: true })))
    t.deepEqual(await list('/api/players', 'Team=null'), [3, 5])
    t.deepEqual(await list('/api/players', 'Team.Name=Lakers'), [1, 2])
    t.deepEqual(await list('/api/players', 'Team.Name=Celtics'), [])
    t.deepEqual(await list('/api/teams', 'Players.Count=0'), [3])
    t.deepEqual(await list('/api/teams', 'Players.Count=1'), [1, 2])
    t.deepEqual(await list('/api/teams', 'Players.Name=in=Bob;Dan'), [])
    const { body } = await world.get('/api/players?includeDeleted=true&select=name,team.name')
    t.deepEqual(body.items, [
      { name: 'Ann', team: { name: 'Lakers' } },
      { name: 'Bob', team: { name: 'Lakers' } },
      { name: 'Cid', team: null },
      { name: 'Dan', team: { name: 'Warriors' } },
      { name: 'Eve', team: null },
    ])
  })

  for (const value of ['foo', '1', 'yes', 'null']) {
    test(`${title}, includeDeleted=${value} is 400 in every list mode`, async (t) => {
      const world = await opened
      for (const mode of ['', '&count=true', '&cursor=', '&select=name']) {
        const { status, body } = await world.get(`/api/players?includeDeleted=${value}${mode}`)
        t.is(status, 400, mode)
        t.is(body.title, 'Invalid query.')
        t.deepEqual(Object.keys(body.errors), ['includeDeleted'])
      }
    })
  }

  test(`${title}, includeDeleted given twice is 400`, async (t) => {
    const world = await opened
    const { status, body } = await world.get('/api/players?includeDeleted=true&includeDeleted=true')
    t.is(status, 400)
    t.deepEqual(Object.keys(body.errors), ['includeDeleted'])
  })

  test(`${title}, a deleted record behind a to-one path is none: sort, select and flatten`, async (t) => {
    const world = await opened
    t.deepEqual(ids(await world.get('/api/players?sort=Team.Name')), [3, 5, 1])
    t.deepEqual(ids(await world.get('/api/players?sort=-Team.Name')), [1, 5, 3])
    const { body } = await world.get('/api/players?select=name,team.name')
    t.deepEqual(body.items, [
      { name: 'Ann', team: { name: 'Lakers' } },
      { name: 'Cid', team: null },
      { name: 'Eve', team: null },
    ])
    const flat = await world.get('/api/flat')
    t.deepEqual(
      flat.body.items.map(({ teamName }: { teamName: string | null }) => teamName),
      ['Lakers', null, null],
    )
    t.is((await world.get('/api/flat/3')).body.teamName, null)
    t.is((await world.get('/api/flat/1')).body.teamName, 'Lakers')
  })

  test(`${title}, DELETE marks the record, keeps its row, and is 404 the next time`, async (t) => {
    const world = await opened
    const { id } = await created(world, '/api/items', { name: 'Marked', code: 'marked' })
    const before = Date.now()
    const answer = await world.delete(`/api/items/${id}`)
    const after = Date.now()
    t.is(answer.status, 204)
    t.is(answer.text, '')
    const row = await readStoredRow(world.Item, id)
    t.is(row?.name, 'Marked')
    t.is(row?.code, 'marked')
    if (isDeleted !== null) t.true(row?.[isDeleted])
    // A paranoid model's own date has the precision that its host gave it: whole seconds on MySQL.
    t.true(timeOf(row?.[deletedAt]) >= before - 1000 && timeOf(row?.[deletedAt]) <= after + 1000)
    t.is((await world.delete(`/api/items/${id}`)).status, 404)
    t.is((await world.get(`/api/items/${id}`)).status, 404)
    t.deepEqual((await readStoredRow(world.Item, id))?.[deletedAt], row?.[deletedAt])
  })

  test(`${title}, a record that was never deleted carries no mark`, async (t) => {
    const world = await opened
    const { id } = await created(world, '/api/items', { name: 'Alive' })
    const { body: bulk } = await world.post('/api/items/bulk', [{ name: 'Alive too' }])
    for (const row of [await readStoredRow(world.Item, id), await readStoredRow(world.Item, bulk[0].id)]) {
      assertLiving(t, row)
    }
  })

  test(`${title}, PATCH of a deleted record is 404 before its body is looked at, and changes nothing`, async (t) => {
    const world = await opened
    const { id } = await created(world, '/api/items', { name: 'Frozen' })
    await world.delete(`/api/items/${id}`)
    for (const body of [{ name: 'Changed' }, { name: 'x' }, {}]) {
      const answer = await world.patch(`/api/items/${id}`, body)
      t.is(answer.status, 404)
      t.is(answer.text, (await world.patch('/api/items/999999', body)).text)
    }
    t.is((await readStoredRow(world.Item, id))?.name, 'Frozen')
  })

  test(`${title}, bulk delete marks what is there and counts neither deleted nor missing records`, async (t) => {
    const world = await opened
    const { body } = await world.post('/api/items/bulk', [{ name: 'One' }, { name: 'Two' }, { name: 'Three' }])
    const [one, two, three] = body.map(({ id }: { id: number }) => id)
    await world.delete(`/api/items/${three}`)
    const marked = (await readStoredRow(world.Item, three))?.[deletedAt]
    const answer = await world.post('/api/items/bulk-delete', [one, two, String(two), three, 999999, 'abc', null])
    t.is(answer.status, 200)
    t.deepEqual(answer.body, { deleted: 2 })
    for (const id of [one, two]) {
      const row = await readStoredRow(world.Item, id)
      if (isDeleted !== null) t.true(row?.[isDeleted])
      t.true(timeOf(row?.[deletedAt]) > 0)
      t.is((await world.get(`/api/items/${id}`)).status, 404)
    }
    t.deepEqual((await readStoredRow(world.Item, three))?.[deletedAt], marked)
    t.deepEqual((await world.post('/api/items/bulk-delete', [one, two, three])).body, { deleted: 0 })
    t.deepEqual((await world.post('/api/items/bulk-delete', [])).body, { deleted: 0 })
  })

  test(`${title}, restore answers 200 with the record, which is as it was`, async (t) => {
    const world = await opened
    const { id, ...rest } = await created(world, '/api/items', { name: 'Back', code: 'back' })
    await world.delete(`/api/items/${id}`)
    const answer = await world.send('POST', `/api/items/${id}/restore`)
    t.is(answer.status, 200)
    t.is(answer.body.id, id)
    t.is(answer.body.name, rest.name)
    t.deepEqual(Object.keys(answer.body).sort(), ['id', ...Object.keys(rest)].sort())
    t.deepEqual((await world.get(`/api/items/${id}`)).body, answer.body)
    assertLiving(t, await readStoredRow(world.Item, id))
    t.is((await world.delete(`/api/items/${id}`)).status, 204)
    t.is((await world.send('POST', `/api/items/${id}/restore`)).status, 200)
  })

  test(`${title}, restore is 404 unless the record is deleted`, async (t) => {
    const world = await opened
    const { id } = await created(world, '/api/items', { name: 'Never gone' })
    const missing = await world.send('POST', '/api/items/999999/restore')
    t.is(missing.status, 404)
    t.is(missing.body.title, 'Not Found')
    const alive = await world.send('POST', `/api/items/${id}/restore`)
    t.is(alive.status, 404)
    t.is(alive.text, missing.text)
    t.is((await world.send('POST', '/api/items/abc/restore')).status, 404)
    await world.delete(`/api/items/${id}`)
    t.is((await world.send('POST', `/api/items/${id}/restore`)).status, 200)
    t.is((await world.send('POST', `/api/items/${id}/restore`)).status, 404)
  })

  test(`${title}, of two DELETEs and of two restores at once one succeeds`, async (t) => {
    const world = await opened
    const { id } = await created(world, '/api/items', { name: 'Raced' })
    const twice = async (send: () => Promise<Answer>): Promise<number[]> => {
      const answers = await Promise.all([send(), send(), send(), send()])
      return answers.map(({ status }) => status).sort()
    }
    t.deepEqual(await twice(() => world.delete(`/api/items/${id}`)), [204, 404, 404, 404])
    t.deepEqual(await twice(() => world.send('POST', `/api/items/${id}/restore`)), [200, 404, 404, 404])
  })

  test(`${title}, a deleted record keeps its unique values: create, bulk create and PATCH are 409`, async (t) => {
    const world = await opened
    const { id } = await created(world, '/api/items', { name: 'Holder', code: 'held' })
    const other = await created(world, '/api/items', { name: 'Other', code: 'free' })
    await world.delete(`/api/items/${id}`)
    const answers = [
      await world.post('/api/items', { name: 'Late', code: 'held' }),
      await world.post('/api/items/bulk', [{ name: 'Late', code: 'held' }]),
      await world.patch(`/api/items/${other.id}`, { code: 'held' }),
    ]
    for (const { status, body, text } of answers) {
      t.is(status, 409)
      t.deepEqual(body.errors, { code: ['is already taken.'] })
      t.false(text.includes('held'))
    }
  })

  test(`${title}, responses have the declared attributes of the mark and no others`, async (t) => {
    const world = await opened
    const { id } = await created(world, '/api/items', { name: 'Shown' })
    const { body } = await world.get(`/api/items/${id}`)
    const marks = [isDeleted ?? 'isDeleted', deletedAt]
    t.deepEqual(
      marks.filter((name) => name in body),
      shown,
    )
    if (isDeleted !== null && shown.includes(isDeleted)) t.false(body[isDeleted])
    if (shown.includes(deletedAt)) t.is(body[deletedAt], living)
  })

  test(`${title}, nobody can write the mark: not in create, bulk create or PATCH`, async (t) => {
    const world = await opened
    const mark = { [isDeleted ?? 'isDeleted']: true, [deletedAt]: '2020-01-01T00:00:00.000Z' }
    const one = await created(world, '/api/items', { name: 'Plain', ...mark })
    const { body: bulk } = await world.post('/api/items/bulk', [{ name: 'Plain', ...mark }])
    t.is((await world.patch(`/api/items/${one.id}`, { name: 'Plainer', ...mark })).body.name, 'Plainer')
    for (const id of [one.id, bulk[0].id]) {
      assertLiving(t, await readStoredRow(world.Item, id))
      t.is((await world.get(`/api/items/${id}`)).status, 200)
    }
  })

  for (const name of [isDeleted ?? 'isDeleted', deletedAt]) {
    if (shown.includes(name)) {
      test(`${title}, ${name} can be filtered, sorted and selected by`, async (t) => {
        const world = await opened
        const filter = name === isDeleted ? `${name}=true` : `${name}!=${living}`
        t.deepEqual(ids(await world.get(listPath('/api/players', { filter, includeDeleted: true }))), [2, 4])
        t.deepEqual(ids(await world.get(listPath('/api/players', { filter }))), [])
        t.is((await world.get(`/api/players?sort=-${name}`)).status, 200)
        const { body } = await world.get(`/api/players?select=${name}&includeDeleted=true&filter=Name=Bob`)
        t.deepEqual(Object.keys(body.items[0]), [name])
        if (name === isDeleted) {
          t.deepEqual(ids(await world.get(`/api/players?${name}=true&includeDeleted=true`)), [2, 4])
          t.deepEqual(body.items, [{ [name]: true }])
        }
      })
    } else {
      test(`${title}, ${name} is an unknown field everywhere`, async (t) => {
        const world = await opened
        const answerTo = async (each: string, field: string): Promise<string> => {
          const { status, text } = await world.get(each.replaceAll('FIELD', encodeURIComponent(field)))
          return `${status} ${text.replaceAll(field, 'FIELD')}`
        }
        const requests = [
          '/api/players?filter=FIELD=true',
          '/api/players?filter=FIELD!=null',
          '/api/players?filter=Team.FIELD=true',
          '/api/teams?filter=Players.FIELD=true',
          '/api/teams?filter=Players.None.FIELD=null',
          '/api/players?sort=FIELD',
          '/api/players?sort=Team.FIELD',
          '/api/players?select=name,FIELD',
          '/api/players?select=name,team.FIELD',
          '/api/players?includeDeleted=true&filter=FIELD=true',
          '/api/players?sortBy=FIELD',
          '/api/players?FIELD=true',
          '/api/flat?filter=Team.FIELD=true',
        ]
        for (const each of requests) {
          t.is(await answerTo(each, name), await answerTo(each, `no${name.slice(2)}`), each)
        }
        t.is((await world.get(`/api/players?filter=${name}=true`)).body.title, 'Unknown field.')
      })
    }
  }
}

test('a mark that is null, as in a row from before the column existed, is no mark', async (t) => {
  const models: ModelStatic<Model>[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const attributes = { name: DataTypes.STRING, isDeleted: DataTypes.BOOLEAN, deletedAt: DataTypes.DATE(3) }
    models.push(sequelize.define('Old', attributes, { timestamps: false }))
    for (const model of models) app.use(crudRouter(model, { softDelete: true, operations: EVERYTHING }))
  })
  try {
    for (const model of models) await model.bulkCreate([{ name: 'Old', isDeleted: null }])
    t.is((await stage.get('/api/olds/1')).status, 200)
    t.deepEqual(ids(await stage.get('/api/olds')), [1])
    t.is((await stage.send('POST', '/api/olds/1/restore')).status, 404)
    t.is((await stage.delete('/api/olds/1')).status, 204)
    t.deepEqual(ids(await stage.get('/api/olds')), [])
    t.is((await stage.send('POST', '/api/olds/1/restore')).status, 200)
  } finally {
    await stage.close()
  }
})

test('the mark alone says what is deleted, whoever has set it', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Thing = sequelize.define('Thing', { name: DataTypes.STRING })
    app.use(crudRouter(Thing, { softDelete: true, operations: EVERYTHING }))
  })
  try {
    await stage.sequelize.model('Thing').bulkCreate([
      { name: 'a', isDeleted: true },
      { name: 'b', deletedAt: new Date() },
    ])
    t.deepEqual(ids(await stage.get('/api/things')), [2])
    t.is((await stage.send('POST', '/api/things/2/restore')).status, 404)
    t.is((await stage.send('POST', '/api/things/1/restore')).status, 200)
    t.deepEqual(ids(await stage.get('/api/things')), [1, 2])
  } finally {
    await stage.close()
  }
})

test('rows are removed where softDelete is false, and where a paranoid model has no date to keep', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = sequelize.define('Plain', { name: DataTypes.STRING })
    const dateless = sequelize.define('Dateless', { name: DataTypes.STRING }, { paranoid: true, timestamps: false })
    app.use(crudRouter(plain, { softDelete: false }), crudRouter(dateless))
  })
  try {
    for (const [path, name] of [
      ['/api/plains', 'Plain'],
      ['/api/datelesses', 'Dateless'],
    ] as const) {
      const { id } = await created(stage, path, { name })
      t.is((await stage.delete(`${path}/${id}`)).status, 204)
      t.is(await stage.sequelize.model(name).count({ paranoid: false }), 0)
      t.false('isDeleted' in stage.sequelize.model(name).getAttributes())
    }
  } finally {
    await stage.close()
  }
})

test('includeDeleted is no parameter of a resource that removes its records, whatever it says', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    app.use(crudRouter(sequelize.define('Thing', { name: DataTypes.STRING }), { operations: Operations.AllWithBulk }))
  })
  try {
    await created(stage, '/api/things', { name: 'Left' })
    const { id } = await created(stage, '/api/things', { name: 'Removed' })
    t.is((await stage.delete(`/api/things/${id}`)).status, 204)
    for (const value of ['true', 'false', 'foo', '']) {
      for (const mode of ['', '&count=true', '&cursor=', '&select=name']) {
        const { status, body } = await stage.get(`/api/things?includeDeleted=${value}${mode}`)
        t.is(status, 400)
        t.deepEqual(body.errors, { includeDeleted: ['is not a parameter of this list.'] })
      }
    }
    t.is((await stage.get('/api/things')).body.totalCount, 1)
    t.is((await stage.send('POST', `/api/things/${id}/restore`)).status, 404)
  } finally {
    await stage.close()
  }
})

test('the restore route exists only with the operation 128, and then for POST alone', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    for (const name of ['With', 'Without']) {
      const operations = name === 'With' ? Operations.Delete | Operations.Restore : Operations.AllWithBulk
      const model = sequelize.define(name, { name: DataTypes.STRING })
      model.addHook('beforeSync', nothing)
      app.use(crudRouter(model, { softDelete: true, operations }))
    }
    const named = sequelize.define('Named', { name: DataTypes.STRING })
    app.use(crudRouter(named, { softDelete: true, operations: ['create', 'delete', 'restore'] }))
  })
  try {
    t.is(Operations.Restore, 128)
    t.is(Operations.AllWithBulk & Operations.Restore, 0)
    t.is((await stage.send('POST', '/api/withouts/1/restore')).status, 404)
    t.is((await stage.send('GET', '/api/withs/1/restore')).status, 405)
    t.is((await stage.send('GET', '/api/withs/1/restore')).headers.get('allow'), 'POST, OPTIONS')
    t.is((await stage.send('OPTIONS', '/api/withs/1/restore')).headers.get('allow'), 'POST, OPTIONS')
    const { id } = await created(stage, '/api/nameds', { name: 'x' })
    t.is((await stage.delete(`/api/nameds/${id}`)).status, 204)
    t.is((await stage.send('POST', `/api/nameds/${id}/restore`)).status, 200)
  } finally {
    await stage.close()
  }
})

test('deleted records are listed only to those whom includeDeletedPolicy admits', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const options: CrudOptions = {
      softDelete: true,
      identity: identityFromHeader,
      onError: nothing,
      includeDeletedPolicy: ({ identity }) => {
        if (identity?.name === 'broken') throw new Problem({ status: 503, detail: 'Ask later.' })
        return identity?.name === 'admin'
      },
    }
    app.use(crudRouter(sequelize.define('Thing', { name: DataTypes.STRING }), options))
  })
  try {
    const { id } = await created(stage, '/api/things', { name: 'Gone' })
    await stage.delete(`/api/things/${id}`)
    for (const mode of ['', '&count=true', '&cursor=', '&select=name']) {
      const ask = (headers: Record<string, string>, value: string): Promise<Answer> =>
        stage.get(`/api/things?includeDeleted=${value}${mode}`, headers)
      t.is((await ask({}, 'true')).status, 401)
      t.is((await ask({}, 'true')).headers.get('www-authenticate'), 'Bearer')
      t.is((await ask(asUser('user'), 'true')).status, 403)
      t.is((await ask(asUser('broken'), 'true')).status, 503)
      const { status, body } = await ask(asUser('admin'), 'true')
      t.is(status, 200)
      t.is(body.count ?? body.items.length, 1)
      t.is((await ask({}, 'false')).status, 200)
    }
  } finally {
    await stage.close()
  }
})

test('a relation path needs the consent of every resource over the target: one that soft-deletes hides', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('Team', { name: DataTypes.STRING })
    const Player = sequelize.define('Player', { name: DataTypes.STRING })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    app.use(crudRouter(Team, { softDelete: true }))
    app.use(crudRouter(Team, { route: 'api/all-teams' }))
    app.use(crudRouter(Player))
  })
  try {
    const { id: teamId } = await created(stage, '/api/teams', { name: 'Celtics' })
    await created(stage, '/api/players', { name: 'Cid', teamId })
    t.deepEqual(ids(await stage.get('/api/players?filter=Team.Name=Celtics')), [1])
    t.is((await stage.delete(`/api/teams/${teamId}`)).status, 204)
    t.is((await stage.get(`/api/all-teams/${teamId}`)).status, 200)
    t.deepEqual(ids(await stage.get('/api/players?filter=Team.Name=Celtics')), [])
    t.deepEqual(ids(await stage.get('/api/players?filter=Team=null')), [1])
    t.is((await stage.get('/api/players?filter=Team.IsDeleted=true')).status, 400)
    t.is((await stage.get('/api/all-teams?filter=IsDeleted=true')).status, 400)
  } finally {
    await stage.close()
  }
})

test('what a paranoid model hides stays hidden behind a relation to it that has no resource of its own', async (t) => {
  const teams: ModelStatic<Model>[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('Team', { name: DataTypes.STRING }, { paranoid: true })
    const Player = sequelize.define('Player', { name: DataTypes.STRING })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    const Club = sequelize.define('Club', { name: DataTypes.STRING })
    Club.hasMany(Team, { as: 'teams', foreignKey: 'clubId' })
    teams.push(Team)
    app.use(crudRouter(Player, { relations: { team: { fields: ['name'] } } }))
    app.use(crudRouter(Club, { relations: { teams: { fields: ['name'] } } }))
  })
  try {
    const { id: clubId } = await created(stage, '/api/clubs', { name: 'Club' })
    for (const Team of teams) {
      const team = await Team.create({ name: 'Celtics', clubId })
      await created(stage, '/api/players', { name: 'Cid', teamId: team.get('id') })
      t.deepEqual(ids(await stage.get('/api/players?filter=Team.Name=Celtics')), [1])
      t.deepEqual(ids(await stage.get('/api/clubs?filter=Teams.Count=1')), [1])
      await team.destroy()
    }
    t.deepEqual(ids(await stage.get('/api/players?filter=Team.Name=Celtics')), [])
    t.deepEqual(ids(await stage.get('/api/players?filter=Team=null')), [1])
    t.deepEqual((await stage.get('/api/players?select=team.name')).body.items, [{ team: null }])
    t.deepEqual(ids(await stage.get('/api/clubs?filter=Teams.Count=0')), [1])
    t.deepEqual(ids(await stage.get('/api/clubs?filter=Teams.Any.Name=Celtics')), [])
  } finally {
    await stage.close()
  }
})

test('where a unique index is for living records alone, a restore that breaks it is 409 and restores nothing', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const attributes = { code: DataTypes.STRING, isDeleted: { type: DataTypes.BOOLEAN, defaultValue: false } }
    const indexes = [{ name: 'living', unique: true, fields: ['code'], where: { isDeleted: false } }]
    const Coupon = sequelize.define('Coupon', attributes, { indexes, timestamps: false })
    app.use(crudRouter(Coupon, { softDelete: true, operations: EVERYTHING }))
  })
  try {
    // These have no indexes of some rows alone, but keep rows with a null out of unique ones.
    if (databaseName === 'mysql' || databaseName === 'mariadb') {
      const alive = 'ADD alive BOOLEAN AS (IF(isDeleted, NULL, TRUE)), ADD UNIQUE living (code, alive)'
      await stage.sequelize.query(`ALTER TABLE Coupons DROP INDEX living, ${alive}`)
    }
    const { id } = await created(stage, '/api/coupons', { code: 'spring' })
    await stage.delete(`/api/coupons/${id}`)
    const other = await created(stage, '/api/coupons', { code: 'spring' })
    const answer = await stage.send('POST', `/api/coupons/${id}/restore`)
    t.is(answer.status, 409)
    t.deepEqual(answer.body.errors, { code: ['is already taken.'] })
    t.is((await stage.get(`/api/coupons/${id}`)).status, 404)
    await stage.delete(`/api/coupons/${other.id}`)
    t.is((await stage.send('POST', `/api/coupons/${id}/restore`)).status, 200)
  } finally {
    await stage.close()
  }
})

/** Mounting without a server or tables. */
async function mounting(define: (sequelize: Sequelize) => ModelStatic<Model>, options: CrudOptions): Promise<unknown> {
  const { sequelize, close } = await openDatabase()
  try {
    return crudRouter(define(sequelize), options)
  } catch (error) {
    return error
  } finally {
    await close()
  }
}

const paranoid = (sequelize: Sequelize): ModelStatic<Model> =>
  sequelize.define('Thing', { name: DataTypes.STRING }, { paranoid: true })

test('softDelete: false on a paranoid model is a CrudConfigError', async (t) => {
  const error = await mounting(paranoid, { softDelete: false })
  t.true(error instanceof CrudConfigError)
  t.like(error, { code: 'INVALID_OPTION' })
  t.regex(String(error), /Thing.*softDelete.*paranoid/)
})

test('a paranoid model whose date has a default that is not a Date is a CrudConfigError', async (t) => {
  for (const defaultValue of [DataTypes.NOW, '9999-12-31']) {
    const deletedAt = { type: DataTypes.DATE, defaultValue }
    const error = await mounting((sequelize) => sequelize.define('Thing', { deletedAt }, { paranoid: true }), {})
    t.true(error instanceof CrudConfigError)
    t.like(error, { code: 'INVALID_ATTRIBUTE' })
    t.regex(String(error), /Thing.*deletedAt.*Date/)
  }
})

test('a paranoid model soft-deletes without being told', async (t) => {
  const router = await mounting(paranoid, { operations: EVERYTHING })
  t.false(router instanceof Error, String(router))
  const plain = (sequelize: Sequelize): ModelStatic<Model> => sequelize.define('Thing', { name: DataTypes.STRING })
  const error = await mounting(plain, { operations: EVERYTHING })
  t.true(error instanceof CrudConfigError)
  t.like(error, { code: 'INVALID_OPTION' })
  t.regex(String(error), /restore needs the option softDelete/)
})

test('hooks of a paranoid model meet no values but those of its attributes', async (t) => {
  const met: (readonly [hook: string, names: readonly string[]])[] = []
  const world = await openStage(({ sequelize }, app) => {
    const Thing = sequelize.define('Thing', { name: DataTypes.STRING }, { paranoid: true })
    for (const hook of ['beforeCreate', 'beforeUpdate', 'beforeDestroy', 'beforeRestore'] as const) {
      Thing.addHook(hook, (instance: Model) => {
        met.push([hook, Object.keys(instance.get()).filter((name) => !Object.hasOwn(Thing.getAttributes(), name))])
      })
    }
    app.use(crudRouter(Thing, { operations: EVERYTHING }))
  })
  t.teardown(() => world.close())
  const { id } = await created(world, '/api/things', { name: 'x' })
  t.is((await world.patch(`/api/things/${id}`, { name: 'y' })).status, 200)
  t.is((await world.delete(`/api/things/${id}`)).status, 204)
  t.is((await world.post(`/api/things/${id}/restore`, undefined)).status, 200)
  t.deepEqual(
    met.map(([hook]) => hook),
    ['beforeCreate', 'beforeUpdate', 'beforeDestroy', 'beforeRestore'],
  )
  t.deepEqual([...new Set(met.flatMap(([, names]) => names))], [])
})

for (const [name, type] of [
  ['isDeleted', DataTypes.STRING],
  ['isDeleted', DataTypes.INTEGER],
  ['deletedAt', DataTypes.STRING],
  ['deletedAt', DataTypes.DATEONLY],
] as const) {
  test(`a declared ${name} of type ${type.key} is a CrudConfigError`, async (t) => {
    const define = (sequelize: Sequelize): ModelStatic<Model> => sequelize.define('Thing', { [name]: { type } })
    const error = await mounting(define, { softDelete: true })
    t.true(error instanceof CrudConfigError)
    t.like(error, { code: 'INVALID_ATTRIBUTE' })
    t.regex(String(error), new RegExp(`Thing.*${name}`))
  })
}

test('the added attributes are the model’s from mounting on, so that the host’s own code has them', async (t) => {
  const { sequelize, close } = await openDatabase()
  try {
    const Thing = sequelize.define('Thing', { name: DataTypes.STRING })
    crudRouter(Thing, { softDelete: true })
    await sequelize.sync()
    const made = await Thing.create({ name: 'x' })
    t.false(made.get('isDeleted'))
    await Thing.update({ isDeleted: true, deletedAt: new Date(0) }, { where: { isDeleted: false } })
    t.is(await Thing.count({ where: { isDeleted: true } }), 1)
  } finally {
    await close()
  }
})
