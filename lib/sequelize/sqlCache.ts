// Kept for speed: cache of SQL texts from Sequelize, by all inputs that determine them.

import { Association, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import type { Column } from '../../types/plan.js'
import { BoundedCache, estimateStringBytes } from '../common/cache.js'
import { isFast } from '../common/fastPaths.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { preparationOf, sequelizeOf, textOfLiteral } from './internals.js'

/** Maximum length of a cache key, in characters. Long keys mostly contain lists of values, which seldom repeat. */
const MAX_KEY_LENGTH = 10_000

type SqlCaches = WeakMap<Sequelize, BoundedCache<string, string>>

/** Cached SQL texts and quoted identifiers, each with one limit for all models of a Sequelize instance. */
const texts: SqlCaches = new WeakMap()
const names: SqlCaches = new WeakMap()

/** Returns the quoted identifier that `write` creates for `name`. */
export function cachedName(sequelize: Sequelize, name: string, write: () => string): string {
  return isFast ? cachedSql(names, sequelize, name, write) : write()
}

function cachedSql(caches: SqlCaches, sequelize: Sequelize, key: string, write: () => string): string {
  return getOrCreate(getOrCreate(caches, sequelize, createCache), key, write)
}

function createCache(): BoundedCache<string, string> {
  return new BoundedCache({ entries: 5000, bytes: 8 * 2 ** 20, estimateSize: weigh })
}

function weigh(key: string, text: string): number {
  return estimateStringBytes(key) + estimateStringBytes(text)
}

/** All inputs of a list of columns except the columns. `types` are the known types of the model's columns. */
interface ListTarget {
  /** The dialect depends on the server's version, which may change while the process runs. */
  readonly dialect: object
  readonly model: ModelStatic<Model>
  readonly alias: string
  readonly types: object | undefined
}

const lists = new WeakMap<readonly Column[], Map<string, ListTarget & { readonly text: string }>>()

/** Numbers that replace long lists in keys. */
const listNumbers = new BoundedCache<string, number>({
  entries: 1000,
  bytes: 2 ** 20,
  estimateSize: estimateStringBytes,
})

/**
 * Returns the list that `write` creates for the columns. The list is cached with the array, because all reads of whole
 * records use the same array. Only columns of the model's own table are cached, because their SQL contains no values.
 */
export function cachedList(columns: readonly Column[], target: ListTarget, write: () => string): string {
  const byAlias = lists.get(columns)
  const known = byAlias?.get(target.alias)
  if (known !== undefined && isEqualTarget(known, target)) return known.text
  const text = write()
  if (!isFast || columns.some((column) => !isStored(column))) return text
  lists.set(columns, (byAlias ?? new Map()).set(target.alias, { ...target, text }))
  if (listNumbers.get(text) === undefined) listNumbers.set(text, nextNumber())
  return text
}

function isEqualTarget(known: ListTarget, { dialect, model, types }: ListTarget): boolean {
  return known.dialect === dialect && known.model === model && known.types === types
}

function isStored({ joins, countedJoin, field }: Column): boolean {
  return joins.length === 0 && countedJoin === undefined && field.derived === undefined
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
  const { where, include } = preparationOf(model)._scope ?? {}
  if (!isFast || !isCaching || where !== undefined || include !== undefined) return write()
  const key = cacheKeyOf(given)
  if (key === null || key.length > MAX_KEY_LENGTH) return write()
  return cachedSql(texts, sequelizeOf(model), `${identityNumberOf(model)}${key}`, write)
}

/** Converts a value to an unambiguous text. Returns null for a value that cannot be a cache key. */
function cacheKeyOf(value: unknown): string | null {
  if (typeof value === 'string') {
    const number = listNumbers.get(value)
    return number === undefined ? `${value.length}:${value}` : `=${number}`
  }
  if (typeof value === 'object') return value === null ? 'null' : cacheKeyOfObject(value)
  const isPlain = value === undefined || typeof value === 'boolean' || typeof value === 'number'
  return isPlain ? String(value) : null
}

function cacheKeyOfObject(value: object): string | null {
  const sql = textOfLiteral(value)
  if (sql !== null) return `(${sql.length}:${sql}`
  if (Array.isArray(value)) {
    let key = '['
    for (const each of value) {
      const member = cacheKeyOf(each)
      if (member === null) return null
      key += `${member},`
    }
    return `${key}]`
  }
  if (Object.getPrototypeOf(value) !== Object.prototype)
    return value instanceof Association ? `#${identityNumberOf(value)}` : null
  const members = value as { readonly [name: string | symbol]: unknown }
  let key = '{'
  for (const name in members) {
    const member = cacheKeyOf(members[name])
    if (member === null) return null
    key += `${name.length}:${name}${member},`
  }
  for (const symbol of Object.getOwnPropertySymbols(members)) {
    const member = cacheKeyOf(members[symbol])
    if (member === null) return null
    const name = String(symbol.description)
    key += `@${name.length}:${name}${member},`
  }
  return `${key}}`
}

const identityNumbers = new WeakMap<object, number>()
let lastNumber = 0

/** Returns a number that distinguishes models and associations with equal names. */
function identityNumberOf(identity: object): number {
  return getOrCreate(identityNumbers, identity, nextNumber)
}

function nextNumber(): number {
  lastNumber += 1
  return lastNumber
}
