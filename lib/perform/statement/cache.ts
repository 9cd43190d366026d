// Kept for speed: the texts of statements, by what they depend on.

import type { Model, ModelStatic } from 'sequelize'
import { BoundedCache, bytesOf } from '../../common/cache.js'
import { isFast } from '../../common/speed.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { describe } from './describe.js'
import { numberOf } from './numbers.js'
import type { Request } from './outline.js'
import { restore } from './restore.js'
import { stateBehind, stateOf } from './state.js'
import { type Prepared, Statement } from './statement.js'
import { write } from './text.js'
import type { Token } from './tokens.js'

const BOUNDS = { entries: 500, bytes: 8 * 2 ** 20 }

/** The statements of one resource by what their texts depend on. */
export class StatementCache {
  readonly #model: ModelStatic<Model>
  readonly #statements = new BoundedCache<string, Statement>({
    ...BOUNDS,
    weigh: (key, { bytes }) => bytesOf(key) + bytes,
  })

  readonly #others = new Map<ModelStatic<Model>, StatementCache>()

  constructor(model: ModelStatic<Model>) {
    this.#model = model
  }

  /** The statements over another model, whose records are read for those of this resource. */
  over(model: ModelStatic<Model>): StatementCache {
    const known = this.#others.get(model)
    if (known !== undefined) return known
    const made = new StatementCache(model)
    this.#others.set(model, made)
    return made
  }

  /** What its statements are counted for. */
  get bytes(): number {
    return this.#statements.bytes
  }

  /**
   * The statement of a request. Its key is the request's tokens, and its text is written from what these tokens alone
   * give back: what is not in the key cannot get into the text.
   */
  prepare(dialect: Dialect, request: Request): Prepared {
    const { tokens, values } = describe(dialect, this.#model, request)
    const key = keyOf(dialect, this.#model, tokens)
    const known = isFast ? this.#statements.get(key) : undefined
    if (known !== undefined) return { statement: known, values }
    const outline = restore(tokens)
    const statement = new Statement(dialect, write(dialect, this.#model, outline))
    if (isFast) this.#statements.set(inOnePiece(key), statement)
    return { statement, values }
  }
}

/**
 * The same text. V8 keeps one that was put together as all that it was put together from, which takes several times as
 * much memory as the text, and as it is counted for.
 */
function inOnePiece(text: string): string {
  return JSON.parse(JSON.stringify(text))
}

/** The tokens in one text, with the states of the models that they touch. Equal keys, equal tokens and states. */
export function keyOf(dialect: Dialect, model: ModelStatic<Model>, tokens: readonly Token[]): string {
  let key = `${dialect.name} ${stateOf(model)}`
  const [kind, first] = tokens
  // The table of the owners of a collection may be another one than the resource's own.
  if (kind === 'embed' && typeof first === 'object' && 'association' in first) {
    key += ` ${stateOf(first.association.source)}`
  }
  for (const token of tokens) {
    if (typeof token !== 'object') key += ` ${token}`
    else if ('association' in token) key += ` #${numberOf(token)} ${stateBehind(token)}`
    else key += ` #${numberOf(token)}`
  }
  return key
}
