// Kept for speed: cache of SQL texts from Sequelize, by all inputs that determine them.

import { Association, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { isFast } from '../common/speed.js'
import { preparation, sequelizeOf } from './internals.js'

/** Maximum length of a cache key. Long keys mostly contain lists of values, which seldom repeat. */
const LONGEST = 10_000

const Literal: new (sql: string) => object = Object.getPrototypeOf(Sequelize.literal('')).constructor

type Texts = BoundedCache<string, string>

/** SQL texts and quoted identifiers, with one limit for all models of a Sequelize instance. */
const texts = new WeakMap<Sequelize, Texts>()

/** Quoted identifier that `write` creates for `name`. */
export function keptName(sequelize: Sequelize, name: string, write: () => string): string {
  return isFast ? kept(sequelize, `"${name}`, write) : write()
}

function kept(sequelize: Sequelize, key: string, write: () => string): string {
  const all = texts.get(sequelize)
  const known = all?.get(key)
  if (known !== undefined) return known
  const text = write()
  const cache: Texts = all ?? new BoundedCache({ entries: 5000, bytes: 8 * 2 ** 20, weigh })
  texts.set(sequelize, cache)
  cache.set(key, text)
  return text
}

function weigh(key: string, text: string): number {
  return bytesOf(key) + bytesOf(text)
}

let isKeeping = false

/** Writes a statement whose values are separate from its text. Texts that contain values are not cached. */
export function keeping(write: () => string): string {
  const before = isKeeping
  isKeeping = true
  try {
    return write()
  } finally {
    isKeeping = before
  }
}

/**
 * SQL text that `write` creates from `given`, the only input of the text. It is cached within `keeping`. Texts of models with a default
 * scope are not cached, because the scope is an object of the host and may change.
 */
export function keptText(model: ModelStatic<Model>, given: object, write: () => string): string {
  if (!isFast || !isKeeping || preparation(model)._scope?.where !== undefined) return write()
  const key = keyOf(given)
  if (key === null || key.length > LONGEST) return write()
  return kept(sequelizeOf(model), `${numberOf(model)}${key}`, write)
}

/** A value as an unambiguous text. Null for a value that cannot be a cache key. */
function keyOf(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return `${value.length}:${value}`
    case 'undefined':
    case 'boolean':
    case 'number':
      return String(value)
    case 'object':
      return value === null ? 'null' : keyOfObject(value)
    default:
      return null
  }
}

function keyOfObject(value: object): string | null {
  if (value instanceof Literal) {
    const sql: unknown = Reflect.get(value, 'val')
    return typeof sql === 'string' ? `(${keyOf(sql)})` : null
  }
  if (value instanceof Association) return `#${numberOf(value)}`
  const isList = Array.isArray(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isList && prototype !== Object.prototype) return null
  let key = isList ? '[' : '{'
  for (const name of Reflect.ownKeys(value)) {
    if (isList && name === 'length') continue
    const member = keyOf(Reflect.get(value, name))
    if (member === null) return null
    key += `${typeof name === 'symbol' ? '@' : ''}${keyOf(String(name))}${member},`
  }
  return key + (isList ? ']' : '}')
}

const numbers = new WeakMap<object, number>()
let last = 0

/** Number that distinguishes models and associations of the same name. */
function numberOf(identity: object): number {
  const known = numbers.get(identity)
  if (known !== undefined) return known
  last += 1
  numbers.set(identity, last)
  return last
}
