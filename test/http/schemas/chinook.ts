import test from 'ava'
import express from 'express'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { list } from '../../support/lists.js'
import { CHINOOK } from '../../support/schemas/chinook/schema.js'
import { serveSchema } from '../../support/schemas/schema.js'
import { walkSchema } from '../../support/schemas/walk.js'
import { serve } from '../../support/server.js'

const chinook = await serveSchema(CHINOOK)
// Options of Sequelize's own that change the SQL it writes.
const others = await Promise.all(
  [{ minifyAliases: true }, { quoteIdentifiers: false }, { omitNull: true }].map(async (options) => ({
    title: Object.keys(options).join(),
    served: await serveSchema(CHINOOK, options),
  })),
)
test.after.always(async () => {
  await chinook.close()
  for (const { served } of others) await served.close()
})

test.serial('the published names in PascalCase are routes in the plural and members in camelCase', async (t) => {
  const routes = chinook.resources.map(({ route }) => route).sort()
  t.deepEqual(routes, [
    ...['/api/albums', '/api/artists', '/api/customers', '/api/employees', '/api/genres', '/api/invoicelines'],
    ...['/api/invoices', '/api/mediatypes', '/api/playlists', '/api/tracks'],
  ])
  const { body } = await chinook.get('/api/tracks/2')
  t.deepEqual(body, {
    trackId: 2,
    name: 'Balls to the Wall',
    albumId: 12,
    mediaTypeId: 2,
    genreId: 2,
    composer: 'Tom Jobim',
    milliseconds: 127919,
    bytes: 2147482638,
    unitPrice: 0.99,
    albumTitle: 'Under a Blood Moon 4',
    albumArtistId: 16,
    albumArtistName: 'Sly | Robbie',
    genreName: 'Jazz',
  })
})

test.serial(
  'records of a many-to-many are linked by routes and by keys in bodies, and embedded as they are',
  async (t) => {
    const { Playlist, PlaylistTrack } = chinook.models
    const operations = Operations.AllWithBulk
    const app = express()
    const lists = crudRouter(Playlist, {
      route: 'lists',
      operations,
      relations: { Tracks: { routes: true, write: true } },
    })
    app.use(lists)
    const server = await serve(app)
    t.teardown(async () => {
      await server.close()
      await lists.close()
    })
    const made = await server.post('/lists', { playlistId: 900, name: 'Linked', tracks: [3, 1, 2] })
    t.deepEqual([made.status, made.body.tracks], [201, [3, 1, 2]], made.text)
    const key = made.body.playlistId
    const linked = async (): Promise<unknown> => {
      const rows = await PlaylistTrack.findAll({ where: { PlaylistId: key }, order: [['TrackId', 'ASC']], raw: true })
      return rows.map((row) => Reflect.get(row, 'TrackId'))
    }
    t.is((await server.send('PUT', `/lists/${key}/tracks/5`)).status, 204)
    t.is((await server.send('PUT', `/lists/${key}/tracks/5`)).status, 204)
    t.is((await server.delete(`/lists/${key}/tracks/1`)).status, 204)
    t.is((await server.delete(`/lists/${key}/tracks/1`)).status, 404)
    t.deepEqual((await server.post(`/lists/${key}/tracks`, [2, 6])).body, { linked: 1 })
    t.deepEqual(await linked(), [2, 3, 5, 6])
    const { body } = await list(server, `/lists/${key}`, {
      select: 'Name,Tracks.TrackId',
      'tracks.sort': '-TrackId',
    })
    t.deepEqual(body, { name: 'Linked', tracks: [6, 5, 3, 2].map((trackId) => ({ trackId })) })
    t.deepEqual((await server.send('PUT', `/lists/${key}/tracks`, { json: [] })).body, { linked: 0, unlinked: 4 })
    t.is((await server.delete(`/lists/${key}`)).status, 204)
    t.deepEqual(await linked(), [])
  },
)

test.serial(
  'a table whose key is a pair of columns is a resource whose records have two keys in their path',
  async (t) => {
    const app = express()
    const pairs = crudRouter(chinook.models.PlaylistTrack)
    app.use(pairs)
    const server = await serve(app)
    t.teardown(async () => {
      await server.close()
      await pairs.close()
    })
    const { status, body } = await server.get('/api/playlisttracks/2~14')
    t.is(status, 200)
    t.deepEqual(body, { playlistId: 2, trackId: 14 })
    t.is((await server.get('/api/playlisttracks/2~15')).status, 404)
  },
)

test.serial('its rows are met behind the tables that it ties together', async (t) => {
  const names = async (filter: string): Promise<string[]> => {
    const { status, body, text } = await list(chinook, '/api/playlists', { filter, select: 'name' })
    t.is(status, 200, text)
    return body.items.map(({ name }: { name: string }) => name)
  }
  t.deepEqual(await names('Tracks.Count=0'), ['Empty'])
  t.deepEqual(
    await names('Tracks.Any(Name=Overkill,UnitPrice=1.99)'),
    await names('Tracks.Count(Name=Overkill,UnitPrice=1.99)>0'),
  )
  t.deepEqual(await names('Entries.TrackId=14'), ['Movies'])
})

for (const { title, served } of others) {
  test.serial(`the same answers are given where Sequelize has the option ${title}`, async (t) => {
    const requests: readonly (readonly [path: string, parameters: Readonly<Record<string, string>>])[] = [
      ['/api/tracks', {}],
      ['/api/tracks', { cursor: '', pageSize: '5' }],
      ['/api/tracks', { count: 'true', filter: 'Album.Artist.Name^A|Genre=null' }],
      ['/api/tracks', { sort: '-Album.Artist.Name,Name', select: 'Name,Album.Artist.Name', pageSize: '7' }],
      ['/api/artists', { filter: 'Albums.Tracks.All.UnitPrice<1', pageSize: '3' }],
      ['/api/playlists', { filter: 'Tracks.Count(Genre.Name=Rock)>=1,Name!=null' }],
    ]
    for (const [path, parameters] of requests) {
      const answer = await list(served, path, parameters)
      t.is(answer.status, 200, answer.text)
      t.deepEqual(answer.body, (await list(chinook, path, parameters)).body)
    }
    const created = await served.post('/api/genres', { name: 'Polka' })
    t.deepEqual(created.body, { genreId: 10, name: 'Polka' })
    t.deepEqual((await served.patch('/api/genres/10', { name: null })).body, { genreId: 10, name: null })
    t.is((await served.delete('/api/genres/10')).status, 204)
    t.deepEqual(served.errors, [])
  })
}

// On servers, northwind.ts sends the same requests to its tables.
if (databaseName === 'sqlite') walkSchema(chinook)
