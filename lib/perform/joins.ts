import type { IncludeOptions } from 'sequelize'
import type { Hop } from '../../types/plan.js'
import { pathOf } from './presence.js'

type Hops = readonly Hop[]

/** The tables that a statement joins, each once, by the path to it, which is Sequelize's alias for it. */
export class Joins {
  readonly #byPath = new Map<string, Hops>()

  /** The tables as Sequelize includes them, each made from its hop, its path and the hops before it. */
  tree(made: (hop: Hop, path: string, before: Hops) => IncludeOptions): IncludeOptions[] {
    const roots: IncludeOptions[] = []
    const byPath = new Map<string, IncludeOptions>()
    for (const [path, hops] of this.#byPath) {
      const hop = hops.at(-1)
      if (hop === undefined) continue
      const before = hops.slice(0, -1)
      const include = made(hop, path, before)
      byPath.set(path, include)
      const parent = byPath.get(pathOf(before))
      if (parent === undefined) roots.push(include)
      else parent.include = [...(parent.include ?? []), include]
    }
    return roots
  }

  /** Adds what a path crosses, parents first, and gives the alias of its end. */
  add(hops: Hops): string {
    for (let length = 1; length <= hops.length; length++) {
      const prefix = hops.slice(0, length)
      const path = pathOf(prefix)
      const known = this.#byPath.get(path)
      if (known === undefined) this.#byPath.set(path, prefix)
      else if (!isSame(known, prefix)) throw new TypeError(`two ways to records are both called ${path}`)
    }
    return pathOf(hops)
  }

  /** A text with short names for those whose own are longer than so many bytes. */
  shorten(sql: string, longest: number, quoted: (name: string) => string): string {
    let short = sql
    for (const [index, path] of [...this.#byPath.keys()].entries()) {
      if (Buffer.byteLength(path) > longest) short = short.replaceAll(quoted(path), quoted(`_j${index}`))
    }
    return short
  }
}

/** Of what is joined once, every path must say the same. */
function isSame(one: Hops, other: Hops): boolean {
  return one.every(({ relation, guard }, index) => relation === other[index]?.relation && guard === other[index].guard)
}
