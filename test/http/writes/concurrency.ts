// Optimistic concurrency: versions begin at 0, every write raises them, and one conditional UPDATE decides. PATCH without
// If-Match is 428, a version that has passed is 412, and a record that is not there is 404 before either. RACE_ROUNDS=n makes the
// race of many longer.

import { request } from 'node:http'
import test from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize'
import { CrudConfigError, type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { serveLeague } from '../../support/league.js'
import type { Answer } from '../../support/server.js'
import { openStage, readStoredRow, type Stage } from '../../support/stage.js'

const ROUNDS = Number(process.env.RACE_ROUNDS ?? 2)

const EVERYTHING = Operations.AllWithBulk | Operations.Restore

/** One way of keeping the version. The same must be true of all of them. */
interface Variant {
  readonly title: string
  readonly options: CrudOptions
  readonly attributes: ModelAttributes
  readonly model: ModelOptions
  readonly prepare?: (model: ModelStatic<Model>) => void
  readonly version: string
  /** Whether responses have it. */
  readonly shown: boolean
  /** Whether DELETE marks the record, so that its version can be looked at afterwards. */
  readonly marks: boolean
}

const nothing = (): void => undefined

const VARIANTS: readonly Variant[] = [
  {
    title: 'with the version added',
    options: { concurrency: true },
    attributes: {},
    model: { timestamps: false },
    version: 'rowVersion',
    shown: false,
    marks: false,
  },
  {
    title: 'with the version declared, of a custom name',
    options: { concurrency: { rowVersion: 'revision' } },
    attributes: { revision: { type: DataTypes.INTEGER, allowNull: false, field: 'rev' } },
    model: {},
    version: 'revision',
    shown: true,
    marks: false,
  },
  {
    title: 'with the version declared as a 64-bit integer, and soft delete',
    options: { concurrency: true, softDelete: true },
    attributes: { rowVersion: { type: DataTypes.BIGINT, defaultValue: 0 } },
    model: { timestamps: false },
    version: 'rowVersion',
    shown: true,
    marks: true,
  },
  {
    title: 'with the version added and hooks in the options',
    options: { concurrency: true, hooks: { beforeUpdate: nothing, beforeDelete: nothing, afterCreate: nothing } },
    attributes: {},
    model: { timestamps: false },
    version: 'rowVersion',
    shown: false,
    marks: false,
  },
  {
    title: 'on a paranoid model with hooks of its own',
    options: { concurrency: true },
    attributes: {},
    model: { paranoid: true },
    prepare: (model) => {
      for (const hook of ['beforeCreate', 'beforeUpdate', 'beforeDestroy', 'afterFind'] as const) {
        model.addHook(hook, nothing)
      }
    },
    version: 'rowVersion',
    shown: false,
    marks: true,
  },
]

interface World extends Stage {
  readonly Thing: ModelStatic<Model>
}

async function openWorld({ options, attributes, model, prepare }: Variant): Promise<World> {
  const things: ModelStatic<Model>[] = []
  const stage = await openStage(({ sequelize }, app) => {
    const own: ModelAttributes = {
      name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
      level: DataTypes.INTEGER,
    }
    const Thing = sequelize.define('Thing', { ...own, ...attributes }, model)
    prepare?.(Thing)
    things.push(Thing)
    const restores = options.softDelete === true || model.paranoid === true
    app.use(crudRouter(Thing, { operations: restores ? EVERYTHING : Operations.AllWithBulk, ...options }))
  })
  const [Thing] = things
  if (Thing === undefined) throw new TypeError('no model was defined')
  return { ...stage, Thing }
}

/** A new record whose version is 1: it was written once. */
async function freshThing({ post, patch }: Stage, level = 1): Promise<string> {
  const { status, body, text } = await post('/api/things', { name: 'Thing', level })
  if (status !== 201) throw new Error(text)
  const path = `/api/things/${body.id}`
  const written = await patch(path, { level }, { 'if-match': '*' })
  if (written.status !== 200) throw new Error(written.text)
  return path
}

const idOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

async function versionOf({ Thing }: World, path: string, name: string): Promise<number> {
  return Number((await readStoredRow(Thing, idOf(path)))?.[name])
}

/** A request past `fetch`, which adds `Cache-Control: no-cache` to conditional ones. */
function plainly(url: string, method: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const received = new Headers()
        for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value))
        resolve({ status: response.statusCode ?? 0, headers: received, body: text === '' ? undefined : text, text })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

/** What `If-Match` may say of version 1. */
const FITTING = [
  'W/"1"',
  '"1"',
  '1',
  'W/1',
  ' W/"1" ',
  'W/0, W/1',
  'W/"0", W/"1"',
  '"7","1"',
  '0, 1, 2',
  '"abc", W/"1"',
  'W/"1", "99999999999999999999"',
  '*',
]

/** What it may say without naming version 1, unreadable tags among it. */
const STALE = [
  'W/"0"',
  '"0"',
  '0',
  'W/"2"',
  '"2", W/"3"',
  'abc',
  '"abc"',
  '',
  '""',
  ',',
  'W/""',
  'W/"-1"',
  '-1',
  '+1',
  '1.0',
  '"1.0"',
  '1e0',
  '0x1',
  '"1',
  '1"',
  "'1'",
  'w/"1"',
  'w/1',
  'W/ 1',
  'W/+1',
  'W/W/"1"',
  '"*"',
  'null',
  '"1 "',
  '4294967297',
  '"2147483648"',
  '"9223372036854775807"',
  '"9223372036854775808"',
  '"99999999999999999999"',
]

const MISMATCH = {
  type: 'https://tools.ietf.org/html/rfc9110#section-15.5.13',
  title: 'Precondition Failed',
  code: 'precondition-failed',
  status: 412,
}

for (const variant of VARIANTS) {
  const { title, version, shown, marks } = variant
  const opened = openWorld(variant)
  test.after.always(async () => (await opened).close())

  test(`${title}, GET by id, HEAD, POST and PATCH carry the version as a weak ETag, from 0 on`, async (t) => {
    const world = await opened
    const created = await world.post('/api/things', { name: 'Thing' })
    t.is(created.status, 201)
    t.is(created.headers.get('etag'), 'W/"0"')
    const path = `/api/things/${created.body.id}`
    t.is((await world.get(path)).headers.get('etag'), 'W/"0"')
    t.is((await world.send('HEAD', path)).headers.get('etag'), 'W/"0"')
    for (const next of [1, 2, 3]) {
      const tag: string = (await world.get(path)).headers.get('etag') ?? ''
      const { status, headers, body } = await world.patch(path, { level: next }, { 'if-match': tag })
      t.is(status, 200)
      t.is(body.level, next)
      t.is(headers.get('etag'), `W/"${next}"`)
      t.is((await world.get(path)).headers.get('etag'), `W/"${next}"`)
      t.is(await versionOf(world, path, version), next)
    }
  })

  test(`${title}, an If-Match that names version 1 writes and deletes it`, async (t) => {
    const world = await opened
    for (const tag of FITTING) {
      const path = await freshThing(world)
      const { status, headers, body } = await world.patch(path, { level: 9 }, { 'if-match': tag })
      t.is(status, 200, tag)
      t.is(body.level, 9, tag)
      t.is(headers.get('etag'), 'W/"2"', tag)
      const next = tag.replace(/(?<!\d)1(?!\d)/, '2')
      t.is((await world.delete(path, { 'if-match': next })).status, 204, next)
      t.is((await world.get(path)).status, 404, next)
    }
  })

  test(`${title}, with any other If-Match PATCH and DELETE are 412, and change and delete nothing`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    for (const tag of STALE) {
      const { status, headers, body } = await world.patch(path, { level: 9 }, { 'if-match': tag })
      t.is(status, 412, tag)
      t.is(headers.get('content-type'), 'application/problem+json', tag)
      t.like(body, MISMATCH, tag)
      t.regex(body.detail, /If-Match/, tag)
      const deleted = await world.delete(path, { 'if-match': tag })
      t.is(deleted.status, 412, tag)
      t.like(deleted.body, MISMATCH, tag)
      const read = await world.get(path)
      t.is(read.body.level, 1, tag)
      t.is(read.headers.get('etag'), 'W/"1"', tag)
    }
  })

  test(`${title}, a PATCH without If-Match is 428, says what to send, and changes nothing`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    const { status, headers, body } = await world.patch(path, { level: 9 })
    t.is(status, 428)
    t.is(headers.get('content-type'), 'application/problem+json')
    t.like(body, {
      type: 'https://tools.ietf.org/html/rfc6585#section-3',
      title: 'Precondition Required',
      code: 'precondition-required',
      status: 428,
    })
    t.regex(body.detail, /If-Match/)
    t.is((await world.get(path)).body.level, 1)
    t.is(await versionOf(world, path, version), 1)
  })

  test(`${title}, a DELETE without If-Match is unconditional`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    t.is((await world.delete(path)).status, 204)
    t.is((await world.get(path)).status, 404)
  })

  test(`${title}, of a missing record PATCH and DELETE are 404, whatever If-Match and the body say`, async (t) => {
    const world = await opened
    const missing = '/api/things/999999'
    const tags: readonly Record<string, string>[] = [
      {},
      { 'if-match': '*' },
      { 'if-match': 'W/"0"' },
      { 'if-match': 'x' },
    ]
    for (const headers of tags) {
      t.is((await world.patch(missing, { level: 1 }, headers)).status, 404)
      t.is((await world.patch(missing, { name: 'x', level: 'x' }, headers)).status, 404)
      t.is((await world.patch(missing, {}, headers)).status, 404)
      t.is((await world.delete(missing, headers)).status, 404)
      t.is((await world.patch('/api/things/abc', { level: 1 }, headers)).status, 404)
      t.is((await world.delete('/api/things/abc', headers)).status, 404)
    }
  })

  test(`${title}, a malformed body comes before 404, 428 and 412, and validation after them`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    const json = { 'content-type': 'application/json' }
    const text = { 'content-type': 'text/plain' }
    for (const to of [path, '/api/things/999999']) {
      for (const match of [{}, { 'if-match': 'W/"0"' }, { 'if-match': '*' }]) {
        t.is((await world.send('PATCH', to, { body: '{"level":', headers: { ...json, ...match } })).status, 400)
        t.is((await world.send('PATCH', to, { body: '[]', headers: { ...json, ...match } })).status, 400)
        t.is((await world.send('PATCH', to, { body: '{}', headers: { ...text, ...match } })).status, 415)
      }
    }
    const invalid = { name: 'x', level: 'high' }
    t.is((await world.patch(path, invalid)).status, 428)
    t.is((await world.patch(path, invalid, { 'if-match': 'W/"0"' })).status, 412)
    t.is((await world.patch(path, invalid, { 'if-match': 'abc' })).status, 412)
    for (const tag of ['W/"1"', '*']) {
      const { status, body } = await world.patch(path, invalid, { 'if-match': tag })
      t.is(status, 400)
      t.deepEqual(Object.keys(body.errors).sort(), ['level', 'name'])
    }
    t.is(await versionOf(world, path, version), 1)
  })

  test(`${title}, an empty PATCH and one that changes no value succeed and raise the version`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    const empty = await world.patch(path, {}, { 'if-match': 'W/"1"' })
    t.is(empty.status, 200)
    t.is(empty.headers.get('etag'), 'W/"2"')
    t.is(empty.body.level, 1)
    const same = await world.patch(path, { level: 1 }, { 'if-match': 'W/"2"' })
    t.is(same.headers.get('etag'), 'W/"3"')
    const ignored = await world.patch(path, { unknown: 1, id: 7 }, { 'if-match': 'W/"3"' })
    t.is(ignored.headers.get('etag'), 'W/"4"')
    t.is(await versionOf(world, path, version), 4)
  })

  test(`${title}, nobody can write the version: not in create, bulk create or PATCH`, async (t) => {
    const world = await opened
    const created = await world.post('/api/things', { name: 'Thing', [version]: 41 })
    t.is(created.headers.get('etag'), 'W/"0"')
    const { status, body } = await world.post('/api/things/bulk', [{ name: 'Thing', [version]: 41 }])
    t.is(status, 201)
    for (const id of [created.body.id, body[0].id]) {
      const path = `/api/things/${id}`
      t.is(await versionOf(world, path, version), 0)
      const patched = await world.patch(path, { [version]: 41 }, { 'if-match': 'W/"0"' })
      t.is(patched.status, 200)
      t.is(patched.headers.get('etag'), 'W/"1"')
      t.is(await versionOf(world, path, version), 1)
    }
  })

  test(`${title}, the bulk endpoints check no precondition`, async (t) => {
    const world = await opened
    const stale = { 'if-match': 'W/"77"' }
    const { status, body } = await world.post('/api/things/bulk', [{ name: 'One' }, { name: 'Two' }], stale)
    t.is(status, 201)
    const keys = body.map(({ id }: { id: number }) => id)
    for (const id of keys) t.is((await world.get(`/api/things/${id}`)).headers.get('etag'), 'W/"0"')
    const deleted = await world.post('/api/things/bulk-delete', keys, stale)
    t.is(deleted.status, 200)
    t.deepEqual(deleted.body, { deleted: 2 })
  })

  test(`${title}, If-None-Match of the current version is 304 without a body, on GET and HEAD`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    for (const tag of FITTING) {
      const asked = { 'if-none-match': tag }
      const answers = [
        await world.get(path, asked),
        await world.send('HEAD', path, { headers: asked }),
        await plainly(world.url + path, 'GET', asked),
        await plainly(world.url + path, 'HEAD', asked),
        await plainly(world.url + path, 'GET', { ...asked, 'cache-control': 'no-cache' }),
      ]
      for (const { status, text, headers } of answers) {
        t.is(status, 304, tag)
        t.is(text, '')
        t.is(headers.get('etag'), 'W/"1"')
      }
    }
  })

  test(`${title}, If-None-Match of another version is 200`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    // Express by itself takes W/W/ for the same as W/.
    for (const tag of STALE.filter((each) => !each.startsWith('W/W/'))) {
      for (const answer of [
        await world.get(path, { 'if-none-match': tag }),
        await plainly(world.url + path, 'GET', { 'if-none-match': tag }),
      ]) {
        t.is(answer.status, 200, tag)
        t.true(answer.text.includes('Thing'))
      }
    }
    const asked = { 'if-none-match': 'W/"1"' }
    t.is((await plainly(world.url + path, 'GET', asked)).status, 304)
    await world.patch(path, { level: 2 }, { 'if-match': '*' })
    t.is((await plainly(world.url + path, 'GET', asked)).status, 200)
  })

  test(`${title}, fifty tags are held against the version, and one more is 400 before anything is looked up`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    const tags = (count: number, last: string): string =>
      [...Array.from({ length: count - 1 }, (_, at) => `W/"${at + 100}"`), last].join(', ')
    for (const last of ['W/"1"', '*', '"x"']) {
      const many = tags(51, last)
      for (const [method, where] of [
        ['PATCH', path],
        ['DELETE', path],
        ['PATCH', '/api/things/999999'],
      ] as const) {
        const json = method === 'PATCH' ? { json: { level: 9 } } : {}
        const { status, headers, body } = await world.send(method, where, { ...json, headers: { 'if-match': many } })
        t.is(status, 400, `${method} ${where}`)
        t.is(headers.get('content-type'), 'application/problem+json')
        t.is(body.detail, 'If-Match has more tags than the limit of 50.')
      }
      const read = await plainly(world.url + path, 'GET', { 'if-none-match': many })
      t.is(read.status, 400)
      t.regex(read.text, /If-None-Match has more tags than the limit of 50\./)
    }
    t.is((await plainly(world.url + path, 'GET', { 'if-none-match': tags(50, 'W/"1"') })).status, 304)
    t.is((await world.patch(path, { level: 2 }, { 'if-match': tags(50, 'W/"9"') })).status, 412)
    t.is((await world.patch(path, { level: 2 }, { 'if-match': tags(50, 'W/"1"') })).status, 200)
    t.is((await world.delete(path, { 'if-match': tags(50, '"2"') })).status, 204)
  })

  test(`${title}, If-None-Match hides no 404 and stops no write`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    t.is((await plainly(`${world.url}/api/things/999999`, 'GET', { 'if-none-match': '*' })).status, 404)
    const patched = await world.patch(path, { level: 2 }, { 'if-none-match': '*', 'if-match': 'W/"1"' })
    t.is(patched.status, 200)
    t.is(patched.body.level, 2)
    t.is((await world.delete(path, { 'if-none-match': '*' })).status, 204)
  })

  test(`${title}, responses and the query language have the version ${shown ? '' : 'not at all, not '}being declared`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    const { body } = await world.get(path)
    const answers = [
      await world.get(`/api/things?filter=${version}=1`),
      await world.get(`/api/things?sort=-${version}`),
      await world.get(`/api/things?select=${version}`),
    ]
    if (shown) {
      t.is(body[version], 1)
      t.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      )
      t.deepEqual((await world.get(`/api/things?select=${version}&${version}=1`)).body.items[0], { [version]: 1 })
    } else {
      t.false(version in body)
      for (const answer of answers) {
        t.is(answer.status, 400)
        t.is(answer.body.title, 'Unknown field.')
      }
      t.is((await world.get(`/api/things?${version}=77`)).body.code, 'unknown-parameter')
    }
  })

  if (marks) {
    test(`${title}, soft delete, bulk delete and restore each raise the version`, async (t) => {
      const world = await opened
      const path = await freshThing(world)
      t.is((await world.delete(path, { 'if-match': 'W/"1"' })).status, 204)
      t.is(await versionOf(world, path, version), 2)
      const restored = await world.send('POST', `${path}/restore`)
      t.is(restored.status, 200)
      t.is(restored.headers.get('etag'), 'W/"3"')
      t.is((await world.post('/api/things/bulk-delete', [Number(idOf(path))])).body.deleted, 1)
      t.is(await versionOf(world, path, version), 4)
      t.is((await world.send('POST', `${path}/restore`)).headers.get('etag'), 'W/"5"')
      t.is((await world.delete(path, { 'if-match': 'W/"4"' })).status, 412)
      t.is((await world.delete(path)).status, 204)
      t.is(await versionOf(world, path, version), 6)
    })

    test(`${title}, a deleted record is 404 to PATCH and DELETE before its version is looked at`, async (t) => {
      const world = await opened
      const path = await freshThing(world)
      await world.delete(path)
      for (const headers of [{}, { 'if-match': 'W/"0"' }, { 'if-match': 'W/"2"' }, { 'if-match': '*' }]) {
        t.is((await world.patch(path, { level: 'x' }, headers)).status, 404)
        t.is((await world.delete(path, headers)).status, 404)
      }
      t.is(await versionOf(world, path, version), 2)
    })
  }

  test(`${title}, of 50 PATCHes at once with one tag exactly one is 200, round after round`, async (t) => {
    const world = await opened
    const path = await freshThing(world, 0)
    for (let round = 1; round <= ROUNDS; round++) {
      const tag = { 'if-match': `W/"${round}"` }
      const writers = Array.from({ length: 50 }, (_, writer) => round * 100 + writer)
      const answers = await Promise.all(writers.map((level) => world.patch(path, { level }, tag)))
      const winners = answers.filter(({ status }) => status === 200)
      t.is(winners.length, 1, `round ${round}`)
      t.is(answers.filter(({ status }) => status === 412).length, 49, `round ${round}`)
      t.is(winners[0]?.headers.get('etag'), `W/"${round + 1}"`)
      const read = await world.get(path)
      t.is(read.headers.get('etag'), `W/"${round + 1}"`)
      t.is(read.body.level, winners[0]?.body.level)
    }
  })

  test(`${title}, of PATCHes and DELETEs at once with one tag exactly one succeeds`, async (t) => {
    const world = await opened
    for (let round = 1; round <= 5; round++) {
      const path = await freshThing(world)
      const tag = { 'if-match': 'W/"1"' }
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          index % 2 === 0 ? world.patch(path, { level: 5 }, tag) : world.delete(path, tag),
        ),
      )
      const statuses = answers.map(({ status }) => status)
      t.is(statuses.filter((status) => status < 300).length, 1, statuses.join(' '))
      const losers = statuses.includes(204) ? [404, 412] : [412]
      t.true(statuses.filter((status) => status >= 300).every((status) => losers.includes(status)))
    }
  })

  test(`${title}, no write of many at once with * is lost from the version`, async (t) => {
    const world = await opened
    const path = await freshThing(world)
    const any = { 'if-match': '*' }
    const answers = await Promise.all(Array.from({ length: 20 }, (_, level) => world.patch(path, { level }, any)))
    t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    t.is(await versionOf(world, path, version), 21)
  })
}

test('without the option a PATCH needs no If-Match, and one that is sent is not looked at', async (t) => {
  const many = Array.from({ length: 60 }, (_, at) => `"${at}"`).join()
  const league = await serveLeague()
  try {
    t.is((await league.patch('/api/players/1', { level: 1 })).status, 200)
    t.is((await league.patch('/api/players/1', { level: 2 }, { 'if-match': 'W/"77"' })).status, 200)
    t.is((await league.patch('/api/players/1', { level: 2 }, { 'if-match': many })).status, 200)
    t.is((await league.get('/api/players/1', { 'if-none-match': many })).status, 200)
    t.is((await league.delete('/api/players/1', { 'if-match': 'W/"77"' })).status, 204)
    t.not((await league.get('/api/players/2')).headers.get('etag'), 'W/"0"')
  } finally {
    await league.close()
  }
})

for (const hooks of [{}, { afterUpdate: nothing }]) {
  const how = 'afterUpdate' in hooks ? 'with hooks' : 'without hooks'
  test(`a resource that flattens a relation keeps its versions ${how}`, async (t) => {
    const stage = await openStage(({ sequelize }, app) => {
      const Team = sequelize.define('Team', { name: DataTypes.STRING }, { timestamps: false })
      const Player = sequelize.define('Player', { name: { type: DataTypes.STRING, validate: { len: [2, 50] } } })
      Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
      const options: CrudOptions = { concurrency: true, softDelete: true, hooks, operations: EVERYTHING }
      app.use(crudRouter(Team, options), crudRouter(Player, { ...options, flatten: ['team'] }))
    })
    try {
      const { body: team } = await stage.post('/api/teams', { name: 'Lakers' })
      const created = await stage.post('/api/players', { name: 'Jan', teamId: team.id })
      t.is(created.headers.get('etag'), 'W/"0"')
      const path = `/api/players/${created.body.id}`
      t.is((await stage.get(path)).headers.get('etag'), 'W/"0"')
      t.is((await stage.patch(path, { name: 'x' })).status, 428)
      t.is((await stage.patch(path, { name: 'x' }, { 'if-match': '7' })).status, 412)
      t.is((await stage.patch(path, { name: 'Eva' }, { 'if-match': '7' })).status, 412)
      t.is((await stage.patch(path, { name: 'x' }, { 'if-match': '0' })).status, 400)
      t.is((await stage.patch('/api/players/999999', { name: 'Eva' }, { 'if-match': '0' })).status, 404)
      const patched = await stage.patch(path, { name: 'Eva' }, { 'if-match': '0' })
      t.is(patched.status, 200)
      t.is(patched.headers.get('etag'), 'W/"1"')
      t.like(patched.body, { name: 'Eva', teamName: 'Lakers' })
      t.is((await stage.delete(path, { 'if-match': '0' })).status, 412)
      t.is((await stage.delete(path, { 'if-match': '1' })).status, 204)
      const restored = await stage.send('POST', `${path}/restore`)
      t.is(restored.headers.get('etag'), 'W/"3"')
      t.like(restored.body, { name: 'Eva', teamName: 'Lakers' })
    } finally {
      await stage.close()
    }
  })
}

test('a version that is null, as in a row from before the column existed, is version 0', async (t) => {
  const models: ModelStatic<Model>[] = []
  for (const hooks of [{}, { beforeUpdate: nothing }]) {
    const stage = await openStage(({ sequelize }, app) => {
      const attributes = { name: DataTypes.STRING, rowVersion: DataTypes.BIGINT }
      models.push(sequelize.define('Old', attributes, { timestamps: false }))
      for (const model of models) app.use(crudRouter(model, { concurrency: true, hooks }))
    })
    try {
      for (const model of models) await model.bulkCreate([{ name: 'Old' }, { name: 'Old' }, { name: 'Old' }])
      t.is((await stage.get('/api/olds/1')).headers.get('etag'), 'W/"0"')
      t.is((await stage.patch('/api/olds/1', { name: 'New' }, { 'if-match': 'W/"1"' })).status, 412)
      const written = await stage.patch('/api/olds/1', { name: 'New' }, { 'if-match': 'W/"0"' })
      t.is(written.status, 200)
      t.is(written.headers.get('etag'), 'W/"1"')
      t.is((await stage.patch('/api/olds/1', { name: 'Newer' }, { 'if-match': 'W/"0"' })).status, 412)
      t.is((await stage.patch('/api/olds/2', { name: 'New' }, { 'if-match': '*' })).headers.get('etag'), 'W/"1"')
      t.is((await stage.delete('/api/olds/3', { 'if-match': 'W/"1"' })).status, 412)
      t.is((await stage.delete('/api/olds/3', { 'if-match': 'W/"5", W/"0"' })).status, 204)
    } finally {
      await stage.close()
      models.length = 0
    }
  }
})

test('versions beyond 2^53 are told and matched to the last digit', async (t) => {
  const models: ModelStatic<Model>[] = []
  const stage = await openStage(({ sequelize }, app) => {
    models.push(sequelize.define('Thing', { name: DataTypes.STRING }, { timestamps: false }))
    for (const model of models) app.use(crudRouter(model, { concurrency: true }))
  })
  try {
    const { body } = await stage.post('/api/things', { name: 'Old hand' })
    const path = `/api/things/${body.id}`
    for (const model of models) await model.update({ rowVersion: '9007199254740993' }, { where: {} })
    t.is((await stage.get(path)).headers.get('etag'), 'W/"9007199254740993"')
    t.is((await stage.patch(path, { name: 'x' }, { 'if-match': 'W/"9007199254740992"' })).status, 412)
    const written = await stage.patch(path, { name: 'x' }, { 'if-match': 'W/"9007199254740993"' })
    t.is(written.status, 200)
    t.is(written.headers.get('etag'), 'W/"9007199254740994"')
  } finally {
    await stage.close()
  }
})

for (const type of [DataTypes.STRING, DataTypes.DATE, DataTypes.DECIMAL]) {
  test(`a declared version of type ${type.key} is a CrudConfigError`, async (t) => {
    const { sequelize, close } = await openDatabase()
    try {
      const Thing = sequelize.define('Thing', { rowVersion: { type } })
      const error = t.throws(() => crudRouter(Thing, { concurrency: true }), { instanceOf: CrudConfigError })
      t.is(error?.code, 'INVALID_ATTRIBUTE')
    } finally {
      await close()
    }
  })
}
