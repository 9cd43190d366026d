import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { Options, QueryTypes } from 'sequelize'
import { hasBuiltinSqlite, parseSource } from '../choices.js'
import type { Schema } from '../schema.js'
import type { Grammar } from '../words.js'
import { readMysql } from './mysql.js'
import { readPostgres } from './postgres.js'
import type { Query } from './query.js'
import { readSqlite } from './sqlite.js'

/** The exports of the module Sequelize. */
type Library = typeof import('sequelize')

const READERS = { sqlite: readSqlite, postgres: readPostgres, mysql: readMysql, mariadb: readMysql }

/** Loads Sequelize from the application's folder. */
function loadSequelize(folder: string): { readonly require: NodeJS.Require; readonly library: Library } {
  const require = createRequire(join(folder, 'package.json'))
  const library: Library = require('sequelize')
  return { require, library }
}

/** Loads Sequelize's functions for singular and plural. */
export function loadGrammar(folder: string): Grammar {
  const { Utils } = loadSequelize(folder).library
  return { singularize: (word) => Utils.singularize(word), pluralize: (word) => Utils.pluralize(word) }
}

/** Reads the tables of a database. The drivers come from the application's folder. */
export async function readSchema(folder: string, from: string): Promise<Schema> {
  const { require, library } = loadSequelize(folder)
  const { database, address } = parseSource(from)
  const options: Options = { dialect: database, logging: false, pool: { max: 1 } }
  const sequelize =
    database === 'sqlite'
      ? new library.Sequelize({ ...options, ...sqliteOptions(require), storage: resolve(address) })
      : new library.Sequelize(address, options)
  const type: QueryTypes.SELECT = library.QueryTypes.SELECT
  const query: Query = (sql, bind) => sequelize.query(sql, { type, ...(bind === undefined ? {} : { bind: [...bind] }) })
  try {
    return await READERS[database](query)
  } finally {
    // An error of `close` is ignored, because a failed connection is already closed.
    await sequelize.close().catch(() => undefined)
  }
}

/** Options for a SQLite database. The file is opened read-only, so that a missing file is not created. */
function sqliteOptions(require: NodeJS.Require): Options {
  if (!hasBuiltinSqlite()) return { dialectOptions: { mode: 1 } }
  const { nodeSqlite }: { nodeSqlite: object } = require('sequelize-crud-router/node-sqlite')
  return { dialectModule: nodeSqlite, dialectOptions: { mode: 1 } }
}
