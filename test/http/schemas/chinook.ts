import test from 'ava'
import { CrudConfigError, crudRouter } from '../../../lib/index.js'
import { list } from '../../support/models.js'
import { CHINOOK } from '../../support/schemas/chinook/schema.js'
import { serveSchema } from '../../support/schemas/schema.js'
import { walkSchema } from '../../support/schemas/walk.js'

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

test.serial('a table whose key is a pair of columns has no resource by itself', (t) => {
  const { PlaylistTrack } = chinook.models
  const error = t.throws(() => crudRouter(PlaylistTrack), { instanceOf: CrudConfigError })
  t.is(error?.code, 'SDTO011')
  t.regex(error?.message ?? '', /^PlaylistTrack has no attribute "id", and its primary key has several attributes/)
})

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

walkSchema(chinook)
