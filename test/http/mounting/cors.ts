// What scripts of other origins may read of the headers, where the host has opened a resource to them.

import { METHODS } from 'node:http'
import test from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { authenticated, crudController, crudRouter, Operations, Problem, problemHandler } from '../../../lib/index.js'
import { FRAMEWORKS } from '../../support/frameworks.js'
import { serve } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { identity } from '../../support/tokens.js'

/** What a host's middleware sets in front of everything, as the request asks for it. */
const cors: RequestHandler = (req, res, next) => {
  const { 'x-origin': origin, 'x-exposed': exposed } = req.headers
  if (typeof origin === 'string') res.setHeader('Access-Control-Allow-Origin', origin)
  if (typeof exposed === 'string') res.setHeader('Access-Control-Expose-Headers', exposed)
  next()
}

const onError = (): void => undefined

function defineFiles(sequelize: Sequelize): Record<'Shelf' | 'File', ModelStatic<Model>> {
  const Shelf = sequelize.define('Shelf', {}, { timestamps: false })
  const File = sequelize.define('File', { name: DataTypes.STRING(9) }, { timestamps: false })
  Shelf.hasMany(File, { as: 'files', foreignKey: 'shelfId' })
  return { Shelf, File }
}

const OPEN = { 'x-origin': '*' }

async function openOn([framework, create]: (typeof FRAMEWORKS)[number]) {
  const server = await openStage(
    ({ sequelize }, app) => {
      const models = {
        ...defineFiles(sequelize),
        Note: sequelize.define(
          'Note',
          { text: DataTypes.STRING, rowVersion: { type: DataTypes.BIGINT, defaultValue: 0 } },
          { timestamps: false },
        ),
      }
      const { Note, Shelf, File } = models
      app.use(cors)
      const operations = Operations.AllWithBulk + Operations.Export
      app.use(
        crudRouter(Shelf, { operations, relations: { files: { routes: true } } }),
        crudRouter(File, { operations }),
      )
      app.use('/plain', crudRouter(Note))
      app.use(
        '/versioned',
        crudRouter(Note, { concurrency: true, operations: Operations.AllWithBulk, query: { unknownFields: 'ignore' } }),
      )
      app.use('/guarded', crudRouter(Note, { identity, authorizePolicy: authenticated }))
      const busy = (): never => {
        throw new Problem({
          status: 503,
          headers: { 'Retry-After': '7', 'Content-Disposition': 'inline', 'X-Own': '1' },
        })
      }
      app.use('/busy', crudRouter(Note, { authorizePolicy: busy, onError }))
      app.get('/handled', crudController(Note, { authorizePolicy: busy, onError }).getList)
      app.get('/own', busy)
      app.use(problemHandler({ onError }))
      return models
    },
    { create },
  )
  await server.Shelf.create({})
  await server.File.create({ name: 'a', shelfId: 1 })
  return { framework, create, server }
}

for (const { framework, create, server } of await Promise.all(FRAMEWORKS.map(openOn))) {
  test.after.always(() => server.close())

  test(`${framework}: the headers that a reply has are exposed to other origins, each kind of reply its own`, async (t) => {
    const exposed = async (method: string, path: string, more: object = {}, status = 200): Promise<string | null> => {
      const { headers = {}, ...rest } = more as { headers?: Record<string, string> }
      const answer = await server.send(method, path, { ...rest, headers: { ...OPEN, ...headers } })
      t.is(answer.status, status, `${method} ${path} ${answer.text}`)
      return answer.headers.get('access-control-expose-headers')
    }
    const versioned = '/versioned/api/notes'
    t.is(await exposed('POST', versioned, { json: { text: 'a' } }, 201), 'ETag, Location')
    t.is(await exposed('POST', `${versioned}/bulk`, { json: [{ text: 'b' }, { text: 'c' }] }, 201), 'ETag')
    t.is(await exposed('GET', `${versioned}/1`), 'ETag')
    t.is(await exposed('HEAD', `${versioned}/1`), 'ETag')
    t.is(await exposed('GET', `${versioned}/1`, { headers: { 'if-none-match': 'W/"0"' } }, 304), 'ETag')
    t.is(await exposed('GET', versioned), 'ETag, Link, X-Total-Count')
    t.is(await exposed('GET', `${versioned}?count=true`), 'ETag, X-Total-Count')
    t.is(await exposed('GET', `${versioned}?cursor=&pageSize=1`), 'ETag, Link')
    const lenient = { headers: { prefer: 'handling=lenient' } }
    t.is(await exposed('GET', `${versioned}?sort=nobody`, lenient), 'ETag, Link, X-Total-Count, Preference-Applied')
    t.is(await exposed('PATCH', `${versioned}/1`, { json: {}, headers: { 'if-match': '*' } }), 'ETag')
    t.is(await exposed('DELETE', `${versioned}/3`, {}, 204), null)
    t.is(await exposed('OPTIONS', versioned, {}, 204), null)
    t.is(await exposed('PUT', versioned, {}, 405), null)
    t.is(await exposed('GET', `${versioned}/999`, {}, 404), null)
    t.is(await exposed('PATCH', `${versioned}/1`, { json: {} }, 428), null)
    t.is(await exposed('GET', '/guarded/api/notes', {}, 401), 'WWW-Authenticate')
    for (const path of ['/busy/api/notes', '/handled', '/own']) {
      t.is(await exposed('GET', path, {}, 503), 'Retry-After, Content-Disposition', path)
    }
  })

  test(`${framework}: the headers of exports are exposed as well`, async (t) => {
    const exposed = async (method: string, path: string, more: { headers?: object; body?: string } = {}) => {
      const headers = { ...OPEN, ...more.headers }
      const answer = await server.send(method, path, { ...more, headers })
      return [answer.status, answer.headers.get('access-control-expose-headers')]
    }
    for (const path of ['/api/files', '/api/shelves/1/files']) {
      for (const format of ['csv', 'jsonl']) {
        for (const method of ['GET', 'HEAD']) {
          t.deepEqual(
            await exposed(method, `${path}?format=${format}`),
            [200, 'Content-Disposition'],
            `${method} ${path}`,
          )
        }
        if (!METHODS.includes('QUERY')) continue
        const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `format=${format}` }
        t.deepEqual(await exposed('QUERY', path, form), [200, 'Content-Disposition'], `QUERY ${path}`)
      }
      for (const accept of ['text/csv', 'application/x-ndjson']) {
        t.deepEqual(await exposed('GET', path, { headers: { accept } }), [200, 'Content-Disposition'], accept)
      }
    }
    const collection = '/api/shelves?format=csv&select=id,files(name)'
    t.deepEqual(await exposed('GET', collection), [400, null])
    const mine = { headers: { 'x-exposed': 'X-Mine' } }
    t.deepEqual(await exposed('GET', '/api/files?format=csv', mine), [200, 'X-Mine, Content-Disposition'])
  })

  test(`${framework}: what the host exposes stays, in its own words, and what it leaves out is added`, async (t) => {
    const exposed = async (names: string, path: string): Promise<string | null> =>
      (await server.get(path, { ...OPEN, 'x-exposed': names })).headers.get('access-control-expose-headers')
    t.is(await exposed('X-Mine, link', '/plain/api/notes'), 'X-Mine, link, ETag, X-Total-Count')
    t.is(await exposed('Link,X-Total-Count,etag', '/plain/api/notes'), 'Link,X-Total-Count,etag')
    t.is(await exposed('*', '/plain/api/notes?count=true'), '*, ETag, X-Total-Count')
    t.is(await exposed('X-Mine', '/guarded/api/notes'), 'X-Mine, WWW-Authenticate')
    t.is(await exposed('X-Mine', '/plain/api/notes/999'), 'X-Mine')
  })

  test(`${framework}: nothing is exposed where the host has not opened the resource to other origins`, async (t) => {
    for (const path of ['/plain/api/notes', '/versioned/api/notes/1', '/guarded/api/notes', '/busy/api/notes']) {
      t.is((await server.get(path)).headers.get('access-control-expose-headers'), null, path)
      const own = await server.get(path, { 'x-exposed': 'X-Mine' })
      t.is(own.headers.get('access-control-expose-headers'), 'X-Mine', path)
    }
  })

  test(`${framework}: no entity tag is exposed where the host has switched Express' own off`, async (t) => {
    const app = create()
    app.set('etag', false)
    app.use(cors, crudRouter(server.Note))
    const untagged = await serve(app)
    t.teardown(untagged.close)
    const { headers } = await untagged.get('/api/notes?count=true', OPEN)
    t.is(headers.get('etag'), null)
    t.is(headers.get('access-control-expose-headers'), 'X-Total-Count')
  })
}
