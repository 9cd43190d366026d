// Tables in the SQL of each database. The tables look as if other programs had created them.

import type { DatabaseName } from '../database.js'

/** SQL that differs between the databases. */
interface Spelling {
  readonly id: string
  readonly enumeration: (name: string, values: readonly string[]) => string
  readonly quote: (name: string) => string
  readonly moment: string
}

function list(values: readonly string[]): string {
  return values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')
}

const double = (name: string): string => `"${name.replaceAll('"', '""')}"`

const MYSQL: Spelling = {
  id: 'INT PRIMARY KEY AUTO_INCREMENT',
  // A backslash is an escape character in MySQL texts.
  enumeration: (_, values) => `ENUM(${list(values).replaceAll('\\', '\\\\')})`,
  quote: (name) => `\`${name.replaceAll('`', '``')}\``,
  moment: 'DATETIME',
}

const SPELLINGS: Readonly<Record<DatabaseName, Spelling>> = {
  sqlite: {
    id: 'INTEGER PRIMARY KEY',
    enumeration: (name, values) => `TEXT CHECK (${double(name)} IN (${list(values)}))`,
    quote: double,
    moment: 'DATETIME',
  },
  postgres: {
    id: 'INT PRIMARY KEY GENERATED ALWAYS AS IDENTITY',
    enumeration: (name) => double(`kind of ${name}`),
    quote: double,
    moment: 'TIMESTAMP',
  },
  mysql: MYSQL,
  mariadb: MYSQL,
}

/** Tables of a music shop: eleven tables, with a join table and a table that refers to itself. */
export function musicShop(database: DatabaseName): readonly string[] {
  const { id, moment, quote } = SPELLINGS[database]
  const foreign = (name: string, table: string): string =>
    `FOREIGN KEY (${quote(name)}) REFERENCES ${quote(table)} (${quote(`${table}Id`)})`
  const table = (name: string, columns: readonly string[], keys: Readonly<Record<string, string>> = {}): string => {
    const all = [`${name}Id ${id}`, ...columns, ...Object.keys(keys).map((key) => `${key} INT`)]
    const parts = [
      ...all.map((text) => text.replace(/^\w+/, quote)),
      ...Object.entries(keys).map(([key, other]) => foreign(key, other)),
    ]
    return `CREATE TABLE ${quote(name)} (${parts.join(', ')})`
  }
  const links = ['Playlist', 'Track'] as const
  const linked = [
    ...links.map((name) => `${quote(`${name}Id`)} INT NOT NULL`),
    `PRIMARY KEY (${links.map((name) => quote(`${name}Id`)).join(', ')})`,
    ...links.map((name) => foreign(`${name}Id`, name)),
  ]
  const price = 'UnitPrice NUMERIC(10,2) NOT NULL'
  const track = { AlbumId: 'Album', MediaTypeId: 'MediaType', GenreId: 'Genre' }
  return [
    table('Artist', ['Name VARCHAR(120)']),
    table('Album', ['Title VARCHAR(160) NOT NULL'], { ArtistId: 'Artist' }),
    table('Genre', ['Name VARCHAR(120)']),
    table('MediaType', ['Name VARCHAR(120)']),
    table('Track', ['Name VARCHAR(200) NOT NULL', 'Milliseconds INT NOT NULL', price], track),
    table('Playlist', ['Name VARCHAR(120)']),
    `CREATE TABLE ${quote('PlaylistTrack')} (${linked.join(', ')})`,
    table('Employee', ['LastName VARCHAR(20) NOT NULL', `HireDate ${moment}`], { ReportsTo: 'Employee' }),
    table('Customer', ['FirstName VARCHAR(40) NOT NULL', 'Email VARCHAR(60) NOT NULL'], { SupportRepId: 'Employee' }),
    table('Invoice', [`InvoiceDate ${moment} NOT NULL`, 'Total NUMERIC(10,2) NOT NULL'], { CustomerId: 'Customer' }),
    table('InvoiceLine', ['Quantity INT NOT NULL', price], { InvoiceId: 'Invoice', TrackId: 'Track' }),
  ]
}

/** Names and values that would become program code if the creator did not escape them. */
export const HOSTILE = {
  table: `x'); process.exit(7) //`,
  column: `*/ \${process.exit(8)} '`,
  /** A column name with characters that Sequelize removes. */
  unnameable: 'a `"',
  value: `\\'); process.exit(9) //`,
} as const

/** Tables with composite keys, self-references, enumerations, and names that are words of SQL and JavaScript. */
export function oddities(database: DatabaseName): readonly string[] {
  const { id, enumeration, quote: q, moment } = SPELLINGS[database]
  const sizes = ['small', HOSTILE.value]
  const comment = database === 'sqlite' || database === 'postgres' ? '' : ` COMMENT '*/ process.exit(5)\n//'`
  const key = (columns: readonly string[], table: string, targets: readonly string[]): string =>
    `FOREIGN KEY (${columns.map(q).join(', ')}) REFERENCES ${q(table)} (${targets.map(q).join(', ')})`
  const enumerations = ['size', 'class'].map(
    (name) => `CREATE TYPE ${double(`kind of ${name}`)} AS ENUM (${list(sizes)})`,
  )
  const length = database === 'sqlite' ? 'length' : 'char_length'
  return [
    ...(database === 'postgres' ? enumerations : []),
    `CREATE TABLE ${q('tenants')} (${q('tenant_id')} ${id}, ${q('code')} VARCHAR(10) NOT NULL UNIQUE)`,
    // A composite primary key that contains a foreign key.
    `CREATE TABLE ${q('order')} (${q('tenant_id')} INT NOT NULL, ${q('number')} INT NOT NULL, ${q('from')} ${moment} NOT NULL DEFAULT CURRENT_TIMESTAMP,
      ${q('size')} ${enumeration('size', sizes)}, ${q('class')} ${enumeration('class', sizes)} NOT NULL DEFAULT 'small',
      PRIMARY KEY (${q('tenant_id')}, ${q('number')}), ${key(['tenant_id'], 'tenants', ['tenant_id'])})`,
    // A composite foreign key.
    `CREATE TABLE ${q('order lines')} (${q('tenant_id')} INT NOT NULL, ${q('order')} INT NOT NULL, ${q('line')} INT NOT NULL, ${q('amount')} INT NOT NULL,
      ${q('price')} INT NOT NULL, ${q('total')} INT GENERATED ALWAYS AS (${q('amount')} * ${q('price')}) STORED,
      PRIMARY KEY (${q('tenant_id')}, ${q('order')}, ${q('line')}), ${key(['tenant_id', 'order'], 'order', ['tenant_id', 'number'])})`,
    // Two foreign keys from one table to another, and one to itself.
    `CREATE TABLE ${q('people')} (${q('id')} ${id}, ${q('constructor')} VARCHAR(20), ${q('update')} VARCHAR(20), ${q('full name')} VARCHAR(40) NOT NULL,
      ${q('level')} INT NOT NULL DEFAULT 1, ${q('manager')} INT, ${q('home_tenant')} VARCHAR(10), ${q('work_tenant')} VARCHAR(10),
      CHECK (${length}(${q('full name')}) >= 2 AND ${length}(${q('full name')}) <= 30), CHECK (${q('level')} BETWEEN 1 AND 100),
      ${key(['manager'], 'people', ['id'])}, ${key(['home_tenant'], 'tenants', ['code'])}, ${key(['work_tenant'], 'tenants', ['code'])})`,
    // A many-to-many relation of a table with itself.
    `CREATE TABLE ${q('friends')} (${q('person_id')} INT NOT NULL, ${q('friend_id')} INT NOT NULL, ${q('since')} DATE,
      PRIMARY KEY (${q('person_id')}, ${q('friend_id')}), ${key(['person_id'], 'people', ['id'])}, ${key(['friend_id'], 'people', ['id'])})`,
    // The stored replies of an application that this package serves already.
    `CREATE TABLE crud_idempotency_keys (id VARCHAR(64) PRIMARY KEY, fingerprint VARCHAR(64) NOT NULL, reply TEXT)`,
    // At most one passport per person.
    `CREATE TABLE ${q('passports')} (${q('person_id')} INT PRIMARY KEY, ${q('id')} VARCHAR(20), ${key(['person_id'], 'people', ['id'])})`,
    `CREATE TABLE ${q(HOSTILE.table)} (${q('id')} ${id}, ${q(HOSTILE.column)} INT${comment}, ${q(HOSTILE.unnameable)} INT, ${q('größe')} INT, ${q('GROSSE')} INT, ${q('dates')} DATE)`,
    `CREATE TABLE ${q('dates')} (${q('id')} ${id}, ${q('model')} VARCHAR(5), ${q('password_hash')} VARCHAR(60))`,
    // A table without a key.
    `CREATE TABLE ${q('log')} (${q('message')} VARCHAR(50))`,
    ...(database === 'postgres'
      ? [
          `COMMENT ON TABLE "dates" IS E'*/ process.exit(6)\\n//'`,
          `CREATE TABLE shapes (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), tags text[] NOT NULL DEFAULT '{}', facts jsonb, place point, net inet)`,
        ]
      : []),
  ]
}
