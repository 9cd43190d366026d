// Behaviours combine freely: each alone, each pair, and all together answer one script of requests, and what
// one of them does is the same whatever else is on.

import test, { type ExecutionContext } from 'ava'
import type { Request } from 'express'
import { DataTypes, type Model, type ModelOptions, type ModelStatic } from 'sequelize'
import {
  authenticated,
  type CrudOptions,
  crudRouter,
  type Hooks,
  type Identity,
  Operations,
} from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import type { Answer } from '../../support/server.js'
import { openStage, readStoredRow, type Stage, timeOf } from '../../support/stage.js'

const BEHAVIOURS = ['policy', 'scope', 'softDelete', 'concurrency', 'audit', 'mask', 'hooks'] as const

type Behaviour = (typeof BEHAVIOURS)[number]

interface Combination {
  readonly on: ReadonlySet<Behaviour>
  readonly title: string
  readonly model: ModelOptions
  readonly prepare?: (model: ModelStatic<Model>) => void
}

const nothing = (): void => undefined

function combination(behaviours: readonly Behaviour[], more: Partial<Combination> = {}): Combination {
  return { on: new Set(behaviours), title: behaviours.join(' and ') || 'no behaviour', model: {}, ...more }
}

const PAIRS = BEHAVIOURS.flatMap((one, index) => BEHAVIOURS.slice(index + 1).map((other) => combination([one, other])))

const COMBINATIONS: readonly Combination[] = [
  combination([]),
  ...BEHAVIOURS.map((one) => combination([one])),
  // A server sees the statements of each behaviour alone and of all together.
  ...(databaseName === 'sqlite' ? PAIRS : []),
  combination(BEHAVIOURS, { title: 'all behaviours' }),
  combination(BEHAVIOURS, { title: 'all behaviours without time stamps', model: { timestamps: false } }),
  combination(BEHAVIOURS, { title: 'all behaviours on a paranoid model', model: { paranoid: true } }),
  combination(BEHAVIOURS, {
    title: 'all behaviours on a model with hooks of its own',
    prepare: (model) => {
      for (const hook of ['beforeSave', 'afterFind', 'beforeDestroy', 'beforeBulkDestroy'] as const) {
        model.addHook(hook, nothing)
      }
    },
  }),
  combination(
    BEHAVIOURS.filter((each) => each !== 'hooks'),
    { title: 'all behaviours but hooks' },
  ),
]

/** Ann may see salaries, Bob may not; both are of tenant 1. Cid is of tenant 2. */
const PEOPLE: Readonly<Record<string, { readonly tenant: number; readonly permissions: readonly string[] }>> = {
  ann: { tenant: 1, permissions: ['hr'] },
  bob: { tenant: 1, permissions: [] },
  cid: { tenant: 2, permissions: ['hr'] },
}

function identityOf({ headers }: Request): Identity | null {
  const name = String(headers['x-user'] ?? '')
  const person = PEOPLE[name]
  if (person === undefined) return null
  return { name, roles: new Set(), permissions: new Set(person.permissions), claims: { tenant: person.tenant } }
}

const OPTIONS: Readonly<Record<Exclude<Behaviour, 'hooks'>, CrudOptions>> = {
  policy: { authorizePolicy: authenticated },
  scope: { scope: ({ identity }) => ({ tenantId: Number(identity?.claims.tenant ?? 0) }) },
  softDelete: { softDelete: true },
  concurrency: { concurrency: true },
  audit: { audit: true },
  mask: { mask: { salary: 'hr' } },
}

interface World extends Stage {
  readonly Doc: ModelStatic<Model>
  readonly calls: string[]
}

async function openWorld({ on, model, prepare }: Combination): Promise<World> {
  const docs: ModelStatic<Model>[] = []
  const calls: string[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const attributes = {
      name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] as const } },
      salary: DataTypes.INTEGER,
      tenantId: DataTypes.INTEGER,
    }
    const Doc = sequelize.define('Doc', attributes, model)
    prepare?.(Doc)
    docs.push(Doc)
    const hooks: Hooks = {
      beforeCreate: ({ identity }) => void calls.push(`create ${identity?.name}`),
      afterUpdate: ({ identity }) => void calls.push(`update ${identity?.name}`),
      beforeDelete: ({ identity }) => void calls.push(`delete ${identity?.name}`),
      afterRestore: ({ identity }) => void calls.push(`restore ${identity?.name}`),
    }
    const asked: CrudOptions[] = BEHAVIOURS.filter((each) => on.has(each)).map((each) =>
      each === 'hooks' ? { hooks } : OPTIONS[each],
    )
    const operations = Operations.AllWithBulk | (on.has('softDelete') ? Operations.Restore : 0)
    app.use(crudRouter(Doc, Object.assign({ operations, identity: identityOf }, ...asked)))
  })
  const [Doc] = docs
  if (Doc === undefined) throw new TypeError('no model was defined')
  return { ...stage, Doc, calls }
}

for (const each of COMBINATIONS) {
  test(`with ${each.title} the script of requests is answered as it should be`, async (t) => {
    const world = await openWorld(each)
    try {
      await script(t, world, each)
    } finally {
      await world.close()
    }
  })
}

async function script(t: ExecutionContext, world: World, { on }: Combination): Promise<void> {
  const { Doc, calls } = world
  const has = (behaviour: Behaviour): boolean => on.has(behaviour)
  const as = (user: string, headers: Record<string, string> = {}): Record<string, string> => ({
    'x-user': user,
    ...headers,
  })
  const match = (tag: string): Record<string, string> => (has('concurrency') ? { 'if-match': tag } : {})
  const check = ({ status, headers, text }: Answer, expected: number, what: string): void => {
    t.is(status, expected, `${what}: ${text}`)
    const isPrivate = has('policy') || has('scope') || has('mask')
    t.is(headers.get('cache-control') === 'private', isPrivate, `${what}: Cache-Control`)
    t.is(headers.get('vary')?.includes('Authorization') === true, isPrivate, `${what}: Vary`)
  }
  const tag = ({ headers }: Answer): string | null => (headers.get('etag') ?? '').match(/^W\/"\d+"$/)?.[0] ?? null
  const version = (expected: number): string | null => (has('concurrency') ? `W/"${expected}"` : null)
  const isTagged = (answer: Answer, expected: number, what: string): void => {
    if (has('concurrency')) t.is(tag(answer), version(expected), what)
    else t.is(tag(answer), null, what)
  }

  check(await world.post('/api/docs', { name: 'Nobody’s' }), has('policy') ? 401 : 201, 'create, anonymous')
  check(await world.get('/api/docs'), has('policy') ? 401 : 200, 'list, anonymous')
  check(await world.post('/api/docs', { name: 'x' }, as('ann')), 400, 'create, invalid')

  // Create
  const created = await world.post('/api/docs', { name: 'Doc', salary: 5 }, as('ann'))
  check(created, 201, 'create')
  isTagged(created, 0, 'create')
  t.is(created.body.salary, 5)
  t.is(created.body.tenantId, has('scope') ? 1 : null)
  const { id } = created.body
  const path = `/api/docs/${id}`
  t.is(created.headers.get('location'), path)
  const contradicting = await world.post('/api/docs', { name: 'Theirs', tenantId: 2 }, as('ann'))
  check(contradicting, has('scope') ? 403 : 201, 'create, contradicting the scope')

  // Read
  const byAnn = await world.get(path, as('ann'))
  const byBob = await world.get(path, as('bob'))
  const byCid = await world.get(path, as('cid'))
  check(byAnn, 200, 'get, Ann')
  isTagged(byAnn, 0, 'get')
  t.is(byAnn.body.salary, 5)
  check(byBob, 200, 'get, Bob')
  t.is(byBob.body.salary, has('mask') ? null : 5)
  check(byCid, has('scope') ? 404 : 200, 'get, Cid')
  t.is((await world.get(path, as('ann', { 'if-none-match': 'W/"0"' }))).status, has('concurrency') ? 304 : 200)
  check(await world.get('/api/docs?filter=Salary=5', as('ann')), 200, 'filter, Ann')
  check(await world.get('/api/docs?filter=Salary=5', as('bob')), has('mask') ? 400 : 200, 'filter, Bob')
  const names = async (user: string, more = ''): Promise<string[]> => {
    const answer = await world.get(`/api/docs?filter=Name^Doc&sort=Name${more}`, as(user))
    check(answer, 200, `list, ${user}`)
    return answer.body.items.map(({ name }: { name: string }) => name)
  }
  t.deepEqual(await names('bob'), ['Doc'])
  t.deepEqual(await names('cid'), has('scope') ? [] : ['Doc'])

  // Update
  const unmatched = await world.patch(path, { level: 1 }, as('bob'))
  check(unmatched, has('concurrency') ? 428 : 200, 'patch without If-Match')
  check(await world.patch(path, { name: 'x' }, as('bob', match('W/"0"'))), 400, 'patch, invalid')
  check(await world.patch(path, { name: 'Cid’s' }, as('cid', match('*'))), has('scope') ? 404 : 200, 'patch, Cid')
  // Without a scope Cid has written once, and without concurrency so has the empty PATCH.
  const before = has('scope') ? 0 : 1
  const patched = await world.patch(path, { name: 'Doc 1' }, as('bob', match(`W/"${before}"`)))
  check(patched, 200, 'patch')
  isTagged(patched, before + 1, 'patch')
  t.is(patched.body.name, 'Doc 1')
  t.is(patched.body.salary, has('mask') ? null : 5)
  const stale = await world.patch(path, { name: 'Doc 1' }, as('bob', match(`W/"${before}"`)))
  check(stale, has('concurrency') ? 412 : 200, 'patch, stale')
  const row = await readStoredRow(Doc, id)
  t.is(row?.salary, 5)
  if (has('audit')) t.like(row, { createdBy: 'ann', updatedBy: 'bob' })
  else t.false(row !== null && 'createdBy' in row)
  if (has('concurrency')) t.is(Number(row?.rowVersion), before + 1)
  else t.false(row !== null && 'rowVersion' in row)

  // Bulk
  const bulk = await world.post('/api/docs/bulk', [{ name: 'Doc 2', salary: 7 }, { name: 'Doc 3' }], as('bob'))
  check(bulk, 201, 'bulk create')
  t.deepEqual(
    bulk.body.map(({ salary }: { salary: number }) => salary),
    [has('mask') ? null : 7, null],
  )
  const keys: number[] = bulk.body.map((record: { id: number }) => record.id)
  t.is((await readStoredRow(Doc, keys[0]))?.salary, 7)
  t.deepEqual(await names('ann'), ['Doc 1', 'Doc 2', 'Doc 3'])
  const foreign = await world.post('/api/docs/bulk-delete', keys, as('cid'))
  check(foreign, 200, 'bulk delete, Cid')
  t.deepEqual(foreign.body, { deleted: has('scope') ? 0 : 2 })
  const own = await world.post('/api/docs/bulk-delete', keys, as('ann'))
  t.deepEqual(own.body, { deleted: has('scope') ? 2 : 0 })
  t.deepEqual(await names('ann'), ['Doc 1'])
  for (const key of keys) {
    const marked = await readStoredRow(Doc, key)
    t.is(marked !== null, has('softDelete'))
    if (marked !== null && has('concurrency')) t.is(Number(marked.rowVersion), 1)
    if (marked !== null && has('audit')) t.like(marked, { createdBy: 'bob', updatedBy: has('scope') ? 'ann' : 'cid' })
  }

  // Delete
  check(await world.delete(path, as('bob', match('W/"77"'))), has('concurrency') ? 412 : 204, 'delete, stale')
  if (has('concurrency')) {
    if (has('scope')) check(await world.delete(path, as('cid')), 404, 'delete, Cid')
    check(await world.delete(path, as('bob', match(`W/"${before + 1}"`))), 204, 'delete')
  }
  check(await world.get(path, as('ann')), 404, 'get, deleted')
  check(await world.delete(path, as('ann')), 404, 'delete, deleted')
  check(await world.patch(path, { name: 'x' }, as('ann', match('W/"77"'))), 404, 'patch, deleted')
  t.deepEqual(await names('ann'), [])
  const deleted = has('softDelete') ? '&includeDeleted=true' : ''
  t.deepEqual(await names('ann', deleted), has('softDelete') ? ['Doc 1', 'Doc 2', 'Doc 3'] : [])
  t.deepEqual(await names('cid', deleted), has('softDelete') && !has('scope') ? ['Doc 1', 'Doc 2', 'Doc 3'] : [])
  const gone = await readStoredRow(Doc, id)
  t.is(gone !== null, has('softDelete'))
  if (gone !== null) {
    t.true(timeOf(gone.deletedAt) > 0)
    if (has('audit')) t.is(gone.updatedBy, 'bob')
    if (has('concurrency')) t.is(Number(gone.rowVersion), before + 2)
  }

  // Restore
  if (has('softDelete')) {
    const restore = (user?: string): Promise<Answer> =>
      world.send('POST', `${path}/restore`, { headers: user === undefined ? {} : as(user) })
    if (has('policy')) check(await restore(), 401, 'restore, anonymous')
    if (has('scope')) check(await restore('cid'), 404, 'restore, Cid')
    const restored = await restore('bob')
    check(restored, 200, 'restore')
    isTagged(restored, before + 3, 'restore')
    t.is(restored.body.salary, has('mask') ? null : 5)
    check(await restore('bob'), 404, 'restore, restored')
    t.deepEqual(await names('bob'), ['Doc 1'])
  }

  // Whoever wrote, in order; a write that was refused is not among it.
  const user = has('scope') ? 'ann' : 'cid'
  const wrote = [
    ...(has('policy') ? [] : ['create undefined']),
    'create ann',
    ...(has('scope') ? [] : ['create ann']),
    ...(has('concurrency') ? [] : ['update bob']),
    ...(has('scope') ? [] : ['update cid']),
    'update bob',
    ...(has('concurrency') ? [] : ['update bob']),
    'create bob',
    'create bob',
    `delete ${user}`,
    `delete ${user}`,
    'delete bob',
    ...(has('softDelete') ? ['restore bob'] : []),
  ]
  // A PATCH without anything to write is one only where a behaviour writes.
  const empty = wrote.indexOf('update bob')
  if (!has('concurrency') && !has('audit')) wrote.splice(empty, 1)
  t.deepEqual(calls, has('hooks') ? wrote : [])
}
