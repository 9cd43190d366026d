// Kept for speed: cache of SQL texts from Sequelize, by all inputs that determine them.

import { Association, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { BoundedCache, estimateStringBytes } from '../common/cache.js'
import { isFast } from '../common/fastPaths.js'
import { preparationOf, sequelizeOf } from './internals.js'

/** Maximum length of a cache key, in characters. Long keys mostly contain lists of values, which seldom repeat. */
const MAX_KEY_LENGTH = 10_000

const Literal: new (sql: string) => object = Object.getPrototypeOf(Sequelize.literal('')).constructor

type SqlCache = BoundedCache<string, string>

/** Cached SQL texts and quoted identifiers, with one limit for all models of a Sequelize instance. */
const cachesBySequelize = new WeakMap<Sequelize, SqlCache>()

/** Returns the quoted identifier that `write` creates for `name`. */
export function cachedName(sequelize: Sequelize, name: string, write: () => string): string {
  return isFast ? cachedSql(sequelize, `"${name}`, write) : write()
}

function cachedSql(sequelize: Sequelize, key: string, write: () => string): string {
  const all = cachesBySequelize.get(sequelize)
  const known = all?.get(key)
  if (known !== undefined) return known
  const text = write()
  const cache: SqlCache = all ?? new BoundedCache({ entries: 5000, bytes: 8 * 2 ** 20, estimateSize: weigh })
  cachesBySequelize.set(sequelize, cache)
  cache.set(key, text)
  return text
}

function weigh(key: string, text: string): number {
  return estimateStringBytes(key) + estimateStringBytes(text)
}

let isCaching = false

/**
 * Runs `write` with the cache enabled. Only for a statement whose values are separate from its text, because texts with
 * values are not cached.
 */
export function withSqlCache(write: () => string): string {
  const before = isCaching
  isCaching = true
  try {
    return write()
  } finally {
    isCaching = before
  }
}

/**
 * Returns the SQL text that `write` creates from `given`, the only input of the text. The text is cached within
 * `withSqlCache`. Texts of models with a default scope are not cached, because the scope is an object of the host and
 * may change.
 */
export function cachedText(model: ModelStatic<Model>, given: object, write: () => string): string {
  if (!isFast || !isCaching || preparationOf(model)._scope?.where !== undefined) return write()
  const key = cacheKeyOf(given)
  if (key === null || key.length > MAX_KEY_LENGTH) return write()
  return cachedSql(sequelizeOf(model), `${identityNumberOf(model)}${key}`, write)
}

/** Converts a value to an unambiguous text. Returns null for a value that cannot be a cache key. */
function cacheKeyOf(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return `${value.length}:${value}`
    case 'undefined':
    case 'boolean':
    case 'number':
      return String(value)
    case 'object':
      return value === null ? 'null' : cacheKeyOfObject(value)
    default:
      return null
  }
}

function cacheKeyOfObject(value: object): string | null {
  if (value instanceof Literal) {
    const sql: unknown = Reflect.get(value, 'val')
    return typeof sql === 'string' ? `(${cacheKeyOf(sql)})` : null
  }
  if (value instanceof Association) return `#${identityNumberOf(value)}`
  const isList = Array.isArray(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isList && prototype !== Object.prototype) return null
  let key = isList ? '[' : '{'
  for (const name of Reflect.ownKeys(value)) {
    if (isList && name === 'length') continue
    const member = cacheKeyOf(Reflect.get(value, name))
    if (member === null) return null
    key += `${typeof name === 'symbol' ? '@' : ''}${cacheKeyOf(String(name))}${member},`
  }
  return key + (isList ? ']' : '}')
}

const identityNumbers = new WeakMap<object, number>()
let lastNumber = 0

/** Returns a number that distinguishes models and associations with equal names. */
function identityNumberOf(identity: object): number {
  const known = identityNumbers.get(identity)
  if (known !== undefined) return known
  lastNumber += 1
  identityNumbers.set(identity, lastNumber)
  return lastNumber
}
