// Parsers for texts from the drivers, chosen by column types for each query. The parsers do not depend on globals of a
// driver or on connection options.

import type { Sequelize } from 'sequelize'
import { getOrCreate } from '../common/getOrCreate.js'
import { internalsOf } from './internals.js'

type ParseText = (text: string) => unknown

/** Parsers of a pg result, by PostgreSQL type number. */
export interface TypeParsers {
  getTypeParser(type: number, format?: string): ParseText
}

const keepText: ParseText = (text) => text

/**
 * Returns an instant as text for the decoder, or as a Date if the text has unusual parts, such as an era. Returns null
 * for infinities.
 */
function parsePostgresInstant(text: string): unknown {
  if (USUAL_INSTANT.test(text)) return text
  const [, year = '', rest = '', sign = '', hours = '', minutes = '00', seconds = '0', era] = INSTANT.exec(text) ?? []
  if (year === '') return null
  const astronomical = era === undefined ? Number(year) : 1 - Number(year)
  const expanded = `${astronomical < 0 ? '-' : '+'}${String(Math.abs(astronomical)).padStart(6, '0')}`
  const instant = Date.parse(`${expanded}-${rest.replace(' ', 'T')}${sign}${hours}:${minutes}`)
  return new Date(instant - Number(`${sign}${seconds}`) * 1000)
}

const USUAL_INSTANT = /^\d{4}-\d\d-\d\d [\d:.]+[+-]\d\d(?::\d\d)?$/
const INSTANT = /^(\d{4,6})-(\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/

const POSTGRES: ReadonlyMap<number, ParseText> = new Map<number, ParseText>([
  // BOOLEAN
  [16, (text) => text === 't'],
  // BIGINT, NUMERIC
  [20, keepText],
  [1700, keepText],
  // SMALLINT, INTEGER, OID, REAL, DOUBLE PRECISION
  ...[21, 23, 26, 700, 701].map((type): [number, ParseText] => [type, Number]),
  // TEXT, CHAR, VARCHAR, UUID
  ...[25, 1042, 1043, 2950].map((type): [number, ParseText] => [type, keepText]),
  // DATE, TIME
  [1082, keepText],
  [1083, keepText],
  // TIMESTAMP WITH TIME ZONE
  [1184, parsePostgresInstant],
  // JSON, JSONB
  [114, (text) => JSON.parse(text) as unknown],
  [3802, (text) => JSON.parse(text) as unknown],
])

const parsersByClient = new WeakMap<object, TypeParsers>()

/**
 * Returns the parsers for a pg client. Other types, such as arrays, ranges and geometry, use the client's own parsers.
 */
export function typeParsersOf(client: Partial<TypeParsers>): TypeParsers | undefined {
  if (!hasParsers(client)) return undefined
  return getOrCreate(parsersByClient, client, () => ({
    getTypeParser: (type, format = 'text') =>
      (format === 'text' ? POSTGRES.get(type) : undefined) ?? client.getTypeParser(type, format),
  }))
}

function hasParsers(client: Partial<TypeParsers>): client is TypeParsers {
  return typeof client.getTypeParser === 'function'
}

/** A value that mysql2 and mariadb pass to a type cast. */
interface Cell {
  readonly type: string
  string(): string | null
  buffer(): Uint8Array | null
}

type DefaultCast = () => unknown

/** Reads a value. `next` reads it with the driver's default. */
export type TypeCast = (cell: Cell, next: DefaultCast) => unknown

interface Casting {
  readonly constructor: { readonly _typecast?: TypeCast }
}

const castToText: TypeCast = (cell) => cell.string()
const castToNumber: TypeCast = (cell) => {
  const text = cell.string()
  return text === null ? null : Number(text)
}

/** Returns the type cast for MySQL and MariaDB values, by the drivers' type names. */
export function typeCastOf(sequelize: Sequelize): TypeCast {
  const connections = internalsOf(sequelize).connectionManager as object as Casting
  const usual: TypeCast = connections.constructor._typecast?.bind(connections) ?? ((_, next) => next())
  const asInstant = createInstantCast(sequelize, usual)
  const casts = new Map<string, TypeCast>([
    ...['DECIMAL', 'NEWDECIMAL', 'DATE', 'NEWDATE', 'TIME'].map((type): [string, TypeCast] => [type, castToText]),
    ...['FLOAT', 'DOUBLE'].map((type): [string, TypeCast] => [type, castToNumber]),
    ...['DATETIME', 'TIMESTAMP'].map((type): [string, TypeCast] => [type, asInstant]),
    ['BIT', (cell) => cell.buffer()],
    ['GEOMETRY', usual],
  ])
  return (cell, next) => {
    const cast = casts.get(cell.type)
    return cast === undefined ? next() : cast(cell, next)
  }
}

/** Reads instants as text with the connection's offset. For a time zone with changing offsets, Sequelize's own type is used. */
function createInstantCast(sequelize: Sequelize, usual: TypeCast): TypeCast {
  const { timezone = '+00:00' } = internalsOf(sequelize).options
  return (cell, next) => {
    const text = cell.string()
    // A zero date, with month or day 0, is not an instant.
    if (text === null || text.includes('-00')) return null
    if (OFFSET.test(timezone)) return text + timezone
    return usual({ type: 'DATETIME', string: () => text, buffer: () => cell.buffer() }, next)
  }
}

const OFFSET = /^[+-]\d\d:\d\d$/
