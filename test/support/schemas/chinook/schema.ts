import { Operations } from '../../../../lib/index.js'
import type { Schema } from '../schema.js'
import { type Chinook, defineChinook } from './models.js'
import { CHINOOK_ROWS } from './rows.js'

/**
 * A resource for every table that has its own key. PlaylistTrack has no such key, because its rows are pairs of foreign
 * keys. Playlists show these rows, with one field that is enabled by name.
 */
export const CHINOOK: Schema<Chinook> = {
  define: defineChinook,
  rows: CHINOOK_ROWS,
  mount: ({ Album, Track, Playlist, ...others }, crudRouter) => {
    const { Artist, Genre, MediaType, Employee, Customer, Invoice, InvoiceLine } = others
    const operations = Operations.AllWithBulk
    return [
      crudRouter(Album, { operations, flatten: ['Artist'] }),
      crudRouter(Track, { operations, flatten: ['Album', 'Genre'] }),
      crudRouter(Playlist, { operations, relations: { Entries: { fields: ['TrackId'] } } }),
      ...[Artist, Genre, MediaType, Employee, Customer, Invoice, InvoiceLine].map((model) =>
        crudRouter(model, { operations }),
      ),
    ]
  },
}
