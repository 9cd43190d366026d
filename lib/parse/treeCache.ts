// Kept for speed: syntax trees, cached by the parsed text.

import type { Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { BoundedCache, estimateStringBytes } from '../common/cache.js'
import { isFast } from '../common/fastPaths.js'
import { getOrCreate } from '../common/getOrCreate.js'

/**
 * The estimated size of a syntax tree in bytes per character of its text. Each comparison has objects for its path and
 * its value.
 */
const PER_CHARACTER = 150

const SETTINGS = {
  entries: 500,
  bytes: 8 * 2 ** 20,
  estimateSize: (text: string): number => estimateStringBytes(text) + PER_CHARACTER * text.length,
}

/**
 * The cached trees of one parameter. Each resource has a cache, because its limits decide which texts are valid. Trees
 * do not depend on the caller, because their names are not resolved.
 */
export class TreeCache<N extends object> {
  readonly #parse: (text: string, limits: Limits) => N
  readonly #caches = new WeakMap<Resource, BoundedCache<string, N>>()

  constructor(parse: (text: string, limits: Limits) => N) {
    this.#parse = parse
  }

  /** Returns the cached tree of a text, or parses the text; null without a text. @throws errors of the parser */
  read(resource: Resource, text: string | null): N | null {
    if (text === null) return null
    const parse = (): N => this.#parse(text, resource.limits)
    if (!isFast) return parse()
    return getOrCreate(
      getOrCreate(this.#caches, resource, () => new BoundedCache(SETTINGS)),
      text,
      parse,
    )
  }
}
