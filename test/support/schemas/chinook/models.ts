import { type DataType, DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { relate, relateMany } from '../schema.js'

/** Models of the music shop, by the published names of its tables. */
export type Chinook = Readonly<
  Record<
    | 'Artist'
    | 'Album'
    | 'Genre'
    | 'MediaType'
    | 'Track'
    | 'Playlist'
    | 'PlaylistTrack'
    | 'Employee'
    | 'Customer'
    | 'Invoice'
    | 'InvoiceLine',
    ModelStatic<Model>
  >
>

/**
 * Defines the Chinook sample database, version 1.4, with generated keys. Table names are singular, and columns are in
 * PascalCase. Attributes have the names of the columns, as model generators write them.
 */
export function defineChinook(sequelize: Sequelize): Chinook {
  const { DATE, DECIMAL, INTEGER, STRING } = DataTypes
  const table = { timestamps: false, freezeTableName: true }
  const key = { type: INTEGER, primaryKey: true, autoIncrement: true }
  const required = (type: DataType) => ({ type, allowNull: false })

  const Artist = sequelize.define('Artist', { ArtistId: { ...key }, Name: STRING(120) }, table)
  const Album = sequelize.define(
    'Album',
    { AlbumId: { ...key }, Title: required(STRING(160)), ArtistId: required(INTEGER) },
    table,
  )
  const Genre = sequelize.define('Genre', { GenreId: { ...key }, Name: STRING(120) }, table)
  const MediaType = sequelize.define('MediaType', { MediaTypeId: { ...key }, Name: STRING(120) }, table)
  const Track = sequelize.define(
    'Track',
    {
      TrackId: { ...key },
      Name: required(STRING(200)),
      AlbumId: INTEGER,
      MediaTypeId: required(INTEGER),
      GenreId: INTEGER,
      Composer: STRING(220),
      Milliseconds: required(INTEGER),
      Bytes: INTEGER,
      UnitPrice: required(DECIMAL(10, 2)),
    },
    table,
  )
  const Playlist = sequelize.define('Playlist', { PlaylistId: { ...key }, Name: STRING(120) }, table)
  const PlaylistTrack = sequelize.define(
    'PlaylistTrack',
    { PlaylistId: { type: INTEGER, primaryKey: true }, TrackId: { type: INTEGER, primaryKey: true } },
    table,
  )
  const Employee = sequelize.define(
    'Employee',
    {
      EmployeeId: { ...key },
      LastName: required(STRING(20)),
      FirstName: required(STRING(20)),
      Title: STRING(30),
      ReportsTo: INTEGER,
      BirthDate: DATE,
      HireDate: DATE,
      Address: STRING(70),
      City: STRING(40),
      State: STRING(40),
      Country: STRING(40),
      PostalCode: STRING(10),
      Phone: STRING(24),
      Fax: STRING(24),
      Email: STRING(60),
    },
    table,
  )
  const Customer = sequelize.define(
    'Customer',
    {
      CustomerId: { ...key },
      FirstName: required(STRING(40)),
      LastName: required(STRING(20)),
      Company: STRING(80),
      Address: STRING(70),
      City: STRING(40),
      State: STRING(40),
      Country: STRING(40),
      PostalCode: STRING(10),
      Phone: STRING(24),
      Fax: STRING(24),
      Email: required(STRING(60)),
      SupportRepId: INTEGER,
    },
    table,
  )
  const Invoice = sequelize.define(
    'Invoice',
    {
      InvoiceId: { ...key },
      CustomerId: required(INTEGER),
      InvoiceDate: required(DATE),
      BillingAddress: STRING(70),
      BillingCity: STRING(40),
      BillingState: STRING(40),
      BillingCountry: STRING(40),
      BillingPostalCode: STRING(10),
      Total: required(DECIMAL(10, 2)),
    },
    table,
  )
  const InvoiceLine = sequelize.define(
    'InvoiceLine',
    {
      InvoiceLineId: { ...key },
      InvoiceId: required(INTEGER),
      TrackId: required(INTEGER),
      UnitPrice: required(DECIMAL(10, 2)),
      Quantity: required(INTEGER),
    },
    table,
  )

  relate(Album, Artist, { foreignKey: 'ArtistId', one: 'Artist', many: 'Albums' })
  relate(Track, Album, { foreignKey: 'AlbumId', one: 'Album', many: 'Tracks' })
  relate(Track, MediaType, { foreignKey: 'MediaTypeId', one: 'MediaType', many: 'Tracks' })
  relate(Track, Genre, { foreignKey: 'GenreId', one: 'Genre', many: 'Tracks' })
  relateMany([Playlist, 'PlaylistId', 'Playlists'], [Track, 'TrackId', 'Tracks'], PlaylistTrack)
  relate(PlaylistTrack, Playlist, { foreignKey: 'PlaylistId', one: 'Playlist', many: 'Entries' })
  relate(Employee, Employee, { foreignKey: 'ReportsTo', one: 'Manager', many: 'Reports' })
  relate(Customer, Employee, { foreignKey: 'SupportRepId', one: 'SupportRep', many: 'Customers' })
  relate(Invoice, Customer, { foreignKey: 'CustomerId', one: 'Customer', many: 'Invoices' })
  relate(InvoiceLine, Invoice, { foreignKey: 'InvoiceId', one: 'Invoice', many: 'Lines' })
  relate(InvoiceLine, Track, { foreignKey: 'TrackId', one: 'Track', many: 'InvoiceLines' })
  return {
    Artist,
    Album,
    Genre,
    MediaType,
    Track,
    Playlist,
    PlaylistTrack,
    Employee,
    Customer,
    Invoice,
    InvoiceLine,
  }
}
