import type { Chinook } from './models.js'

/** Returns the n-th item of a list that is repeated without end. */
const of = <T>(list: readonly T[], n: number): T => list[n % list.length] as T
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

/** Names with characters that are special in the filter language, LIKE and SQL. */
const ARTISTS = [
  ...['AC/DC', 'Accept', 'Antônio Carlos Jobim', 'Caetano Veloso', 'Emerson, Lake & Palmer', 'Motörhead'],
  ...["Guns N' Roses", 'Godspeed You! Black Emperor', 'Sunn O)))', '(hed) p.e.', '!!!', '100% Pure Love', 'null'],
  ...['Ke$ha', 'P!nk', 'Sly | Robbie', 'AC\\DC tribute', 'M_A_S_H', '*NSYNC', '=', 'ac/dc', '椎名林檎', '🎸 Combo'],
]
const WORDS = [
  'Back in Black',
  'Balls to the Wall',
  'Águas de Março',
  'Ace of Spades',
  'Overkill',
  'Under a Blood Moon',
]
const GENRES = ['Rock', 'Jazz', 'Metal', 'Alternative & Punk', 'Latin', 'Bossa Nova', 'R&B/Soul', 'Hip Hop/Rap', null]
const MEDIA = ['MPEG audio file', 'Protected AAC audio file', 'AAC audio file', 'Protected MPEG-4 video file']
const COMPOSERS = ['Angus Young, Malcolm Young', 'Tom Jobim', null, 'Lemmy', '', 'trad. / arr. A. B.']
const PLAYLISTS = ['Music', 'Movies', 'TV Shows', '90’s Music', 'Brazilian Music', 'On-The-Go 1', null, 'Empty']
const FIRST = ['Andrew', 'Nancy', 'Jane', 'Margaret', 'Steve', 'Michael', 'Robert', 'Laura', 'Luís', 'Björn']
const LAST = ['Adams', 'Edwards', 'Peacock', 'Park', 'Johnson', 'Mitchell', 'King', "O'Reilly", 'Gonçalves', 'Hansen']
const CITIES: readonly (readonly [string, string | null, string])[] = [
  ['São José dos Campos', 'SP', 'Brazil'],
  ['Stuttgart', null, 'Germany'],
  ['Montréal', 'QC', 'Canada'],
  ['Oslo', null, 'Norway'],
  ['Reno', 'NV', 'USA'],
]
const MANAGERS = [null, 1, 2, 2, 2, 1, 6, 6]

/** Address columns of employees and customers. */
const home = (n: number) => {
  const [City, State, Country] = of(CITIES, n)
  return { Address: n % 7 === 0 ? null : `${n + 1} Main St, #${n}`, City, State, Country, PostalCode: `${10115 + n}` }
}

export const CHINOOK_ROWS: Readonly<Record<keyof Chinook, readonly object[]>> = {
  Artist: [...ARTISTS, null].map((Name) => ({ Name })),
  Album: times(36, (n) => ({ Title: `${of(WORDS, n)} ${1 + (n % 4)}`, ArtistId: 1 + ((n * 5) % 20) })),
  Genre: GENRES.map((Name) => ({ Name })),
  MediaType: MEDIA.map((Name) => ({ Name })),
  Track: times(72, (n) => ({
    Name: `${of(WORDS, n * 7)}${n % 5 === 0 ? ' (Live)' : ''}`,
    AlbumId: n % 9 === 0 ? null : 1 + ((n * 11) % 30),
    MediaTypeId: 1 + (n % 3),
    GenreId: n % 8 === 0 ? null : 1 + (n % 7),
    Composer: of(COMPOSERS, n),
    Milliseconds: 120_000 + ((n * 7919) % 400_000),
    Bytes: n % 6 === 0 ? null : 2_147_483_647 - n * 1009,
    UnitPrice: n % 4 === 0 ? '1.99' : '0.99',
  })),
  Playlist: PLAYLISTS.map((Name) => ({ Name })),
  PlaylistTrack: times(48, (n) => ({ PlaylistId: 1 + (n % 7), TrackId: 1 + ((n * 13) % 70) })),
  Employee: MANAGERS.map((ReportsTo, n) => ({
    LastName: of(LAST, n),
    FirstName: of(FIRST, n),
    Title: n === 0 ? 'General Manager' : n % 3 === 0 ? null : 'Sales Support Agent',
    ReportsTo,
    BirthDate: n === 3 ? null : `19${58 + n}-02-18T00:00:00Z`,
    HireDate: `200${2 + (n % 3)}-08-1${n}T12:30:00Z`,
    ...home(n),
    Phone: `+1 (780) 428-948${n}`,
    Fax: n % 2 === 0 ? null : `+1 (780) 428-345${n}`,
    Email: `${of(FIRST, n).toLowerCase()}@chinookcorp.com`,
  })),
  Customer: times(24, (n) => ({
    FirstName: of(FIRST, n * 3),
    LastName: of(LAST, n * 7 + 1),
    Company: n % 3 === 0 ? `Company ${n}, Ltd.` : null,
    ...home(n),
    Phone: n % 5 === 0 ? null : `+55 (12) 3923-55${10 + n}`,
    Fax: null,
    Email: `customer${n}@example.com`,
    SupportRepId: n % 6 === 0 ? null : 3 + (n % 3),
  })),
  Invoice: times(40, (n) => {
    const [BillingCity, BillingState, BillingCountry] = of(CITIES, n * 3)
    return {
      CustomerId: 1 + ((n * 7) % 20),
      InvoiceDate: new Date(Date.UTC(2009, n % 12, 1 + ((n * 5) % 28), n % 24)),
      BillingAddress: n % 4 === 0 ? null : `${n} Theodor-Heuss-Straße`,
      BillingCity,
      BillingState,
      BillingCountry,
      BillingPostalCode: n % 4 === 0 ? null : `0${171 + n}`,
      Total: `${n}.${of(['00', '98', '05', '90'], n)}`,
    }
  }),
  InvoiceLine: times(80, (n) => ({
    InvoiceId: 1 + ((n * 3) % 36),
    TrackId: 1 + ((n * 17) % 64),
    UnitPrice: n % 4 === 0 ? '1.99' : '0.99',
    Quantity: 1 + (n % 3),
  })),
}
