// How drivers read instants, of which each record has two: their own ways take as long as the rest of a row. Where a host reads them
// in a way of its own, nothing is changed.

import type { Sequelize } from 'sequelize'
import { fasterReader } from '../common/instant.js'
import { connectionsOf } from './model.js'

type Read = (text: string) => unknown

/** What pg reads the values of a result by, from the number that their type has on the server. */
export interface TypeParsers {
  getTypeParser(type: number, format?: string): Read
}

/** The number of TIMESTAMP WITH TIME ZONE. */
const INSTANT = 1184

const parsers = new WeakMap<object, TypeParsers | undefined>()

/** What reads the results of a client of pg; undefined for what it reads them by itself. */
export function typeParsersOf(client: Partial<TypeParsers>): TypeParsers | undefined {
  if (parsers.has(client)) return parsers.get(client)
  const made = madeFor(client)
  parsers.set(client, made)
  return made
}

function madeFor(client: Partial<TypeParsers>): TypeParsers | undefined {
  if (!hasParsers(client)) return undefined
  const reader = fasterReader(client.getTypeParser(INSTANT, 'text'), '+00')
  if (reader === null) return undefined
  return {
    getTypeParser: (type, format = 'text') =>
      type === INSTANT && format === 'text' ? reader : client.getTypeParser(type, format),
  }
}

function hasParsers(client: Partial<TypeParsers>): client is TypeParsers {
  return typeof client.getTypeParser === 'function'
}

/** A value as the drivers mysql2 and mariadb hand it to whoever wants to read it. */
interface Cell {
  readonly type: string
  string(): string | null
}

type Next = () => unknown

/** How a value is read; `next` is what the driver would do. */
export type TypeCast = (cell: Cell, next: Next) => unknown

interface Casting {
  readonly config: { readonly dialectOptions?: object; readonly replication?: unknown }
  readonly constructor: { readonly _typecast?: TypeCast }
}

/** What reads values of MySQL and MariaDB; undefined for what the connections have been given. */
export function typeCastOf(sequelize: Sequelize): TypeCast | undefined {
  const connections = connectionsOf(sequelize) as object as Casting
  const { config } = connections
  // What servers of their own are given, each may be given another way.
  if (config.replication || 'typeCast' in (config.dialectOptions ?? {})) return undefined
  const usual = connections.constructor._typecast?.bind(connections)
  if (usual === undefined) return undefined
  const read = readerOf(usual)
  if (read === null) return undefined
  return (cell, next) => {
    if (cell.type !== DATE_TIME) return usual(cell, next)
    const text = cell.string()
    return text === null ? null : read(text)
  }
}

const DATE_TIME = 'DATETIME'

/** What Sequelize reads instants by, made faster; null where it cannot be. */
function readerOf(usual: TypeCast): Read | null {
  const read: Read = (text) => usual({ type: DATE_TIME, string: () => text }, () => undefined)
  try {
    return fasterReader(read, '')
  } catch {
    // A way of the host's own, which asks for more than the text.
    return null
  }
}
