// Kept for speed: texts that Sequelize has written, by all that it was given to write them from.

import { Association, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { isFast } from '../common/speed.js'
import { preparation, sequelizeOf } from './internals.js'

/** Characters of a key that a text is kept by. Long ones are mostly lists of values, which seldom come again. */
const LONGEST = 10_000

const Literal: new (sql: string) => object = Object.getPrototypeOf(Sequelize.literal('')).constructor

type Texts = BoundedCache<string, string>

/** Texts by their keys, and quoted identifiers: one bound for all models of a Sequelize instance. */
const texts = new WeakMap<Sequelize, Texts>()

function textsOf(sequelize: Sequelize): Texts {
  const known = texts.get(sequelize)
  if (known !== undefined) return known
  const weigh = (key: string, text: string): number => bytesOf(key) + bytesOf(text)
  const made: Texts = new BoundedCache({ entries: 5000, bytes: 8 * 2 ** 20, weigh })
  texts.set(sequelize, made)
  return made
}

/** The quoted identifier that `write` makes of `name`. */
export function keptName(sequelize: Sequelize, name: string, write: () => string): string {
  return isFast ? kept(sequelize, `"${name}`, write) : write()
}

function kept(sequelize: Sequelize, key: string, write: () => string): string {
  const all = textsOf(sequelize)
  const known = all.get(key)
  if (known !== undefined) return known
  const text = write()
  all.set(key, text)
  return text
}

let isKeeping = false

/** Writes a statement whose values stand beside its text. Texts that have values in them are not kept. */
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
 * The text that `write` makes of `given`, which is all that the text depends on. It is kept within `keeping`. A default scope is the
 * host's own object, which may change: texts of models with one are written anew.
 */
export function keptText(model: ModelStatic<Model>, given: object, write: () => string): string {
  if (!isFast || !isKeeping || preparation(model)._scope?.where !== undefined) return write()
  const key = keyOf(given)
  if (key === null || key.length > LONGEST) return write()
  return kept(sequelizeOf(model), `${numberOf(model)}${key}`, write)
}

/** Everything that is in a value, as text: different values have different keys. Null for a value that has no key. */
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

/** Tells a model or an association from others of the same name. */
function numberOf(identity: object): number {
  const known = numbers.get(identity)
  if (known !== undefined) return known
  last += 1
  numbers.set(identity, last)
  return last
}
