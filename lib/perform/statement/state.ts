import type { Model, ModelStatic } from 'sequelize'
import type { RelationInfo } from '../../../types/relation.js'
import { changeable, keysOf } from '../../sequelize/model.js'
import { isExpression } from '../../sequelize/sql.js'
import { numberOf } from './numbers.js'

/**
 * What of a model is in the text of its statements though nobody has asked for it, and a host may change at any time:
 * the table, its columns, the default scope with its values. Equal texts, equal states.
 */
export function stateOf(model: ModelStatic<Model>): string {
  const state = changeable(model)
  const { scope } = state
  const text = plainState(model, state)
  return isEmpty(scope) ? text : text + fingerprint(scope)
}

/** What stands in a model's state, its scope aside: all of it is told apart by being another. */
interface Plain {
  readonly table: unknown
  readonly attributes: object
  readonly paranoid: boolean
}

interface Last extends Plain {
  readonly text: string
}

/** By model, as it was last asked for. */
const last = new WeakMap<ModelStatic<Model>, Last>()

function plainState(model: ModelStatic<Model>, { table, attributes, paranoid }: Plain): string {
  const known = last.get(model)
  // A table in a schema is another object each time, and never known.
  if (known !== undefined && known.table === table && known.attributes === attributes && known.paranoid === paranoid) {
    return known.text
  }
  const text = `${fingerprint(table)}${numberOf(attributes)}${paranoid ? 'p' : ''}`
  last.set(model, { table, attributes, paranoid, text })
  return text
}

/** The same of the tables behind a relation. */
export function stateBehind({ association }: RelationInfo): string {
  const { scope, sourceScope, through } = keysOf(association)
  const target = stateOf(association.target) + [...scope, ...sourceScope].map(fingerprint).join('')
  return through === null ? target : `${target}${stateOf(through.model)}${through.scope.map(fingerprint).join('')}`
}

function isEmpty(scope: object | undefined): boolean {
  return scope === undefined || (typeof scope === 'object' && Object.keys(scope).length === 0)
}

/**
 * A where tree as text: plain values, and what Sequelize's expressions are made of, by what they hold. Anything else is
 * one thing as long as it is the same object.
 */
function fingerprint(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'symbol':
      return JSON.stringify(Symbol.keyFor(value) ?? String(value))
    case 'function':
      return `#${numberOf(value)}`
    case 'object':
      return value === null ? 'null' : fingerprintOf(value)
    default:
      return `${typeof value}:${String(value)}`
  }
}

function fingerprintOf(value: object): string {
  if (Array.isArray(value)) return `[${value.map(fingerprint).join()}]`
  if (value instanceof Date) return `date:${value.getTime()}`
  const prototype: object | null = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null
  if (!isPlain && !isExpression(value)) return `#${numberOf(value)}`
  const members = Reflect.ownKeys(value).map((name) => `${fingerprint(name)}:${fingerprint(Reflect.get(value, name))}`)
  return `${prototype === null ? '' : numberOf(prototype)}{${members.join()}}`
}
