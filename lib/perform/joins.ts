import type { IncludeOptions } from 'sequelize'
import type { Hop } from '../../types/plan.js'
import { pathOf } from './presence.js'

type Hops = readonly Hop[]

/** Alias for a joined table whose name equals the main table's alias. */
const SAME_AS_MAIN = '_j'

/** A joined table. `as` is the last part of `alias`. */
interface Joined {
  readonly hops: Hops
  readonly as: string
  readonly alias: string
}

/** The joined tables of a statement, each once. The key is the path in Sequelize's alias syntax. */
export class Joins {
  readonly #byPath = new Map<string, Joined>()
  readonly #isRenaming: boolean

  /** `isRenaming` is false for Sequelize finders, which require their own aliases. */
  constructor(isRenaming: boolean) {
    this.#isRenaming = isRenaming
  }

  /** The joins as Sequelize's `include` tree. `made` builds each node. */
  tree(
    made: (
      hop: Hop,
      table: { readonly path: string; readonly alias: string; readonly before: string },
    ) => IncludeOptions,
  ): IncludeOptions[] {
    const roots: IncludeOptions[] = []
    const byPath = new Map<string, IncludeOptions>()
    for (const [path, { hops, as, alias }] of this.#byPath) {
      const hop = hops.at(-1)
      if (hop === undefined) continue
      const before = pathOf(hops.slice(0, -1))
      const plain = made(hop, { path, alias, before: this.#byPath.get(before)?.alias ?? '' })
      const include = as === hop.relation.name ? plain : { ...plain, as }
      byPath.set(path, include)
      const parent = byPath.get(before)
      if (parent === undefined) roots.push(include)
      else parent.include = [...(parent.include ?? []), include]
    }
    return roots
  }

  /** Adds the joins of a path and returns the last table's alias. */
  add(hops: Hops): string {
    let alias = ''
    for (const [index, hop] of hops.entries()) {
      const prefix = hops.slice(0, index + 1)
      const path = pathOf(prefix)
      const known = this.#byPath.get(path)
      if (known !== undefined && !isSame(known.hops, prefix))
        throw new TypeError(`two ways to records are both called ${path}`)
      const joined = known ?? this.#joined(hop, prefix, alias)
      this.#byPath.set(path, joined)
      alias = joined.alias
    }
    return alias
  }

  /** The main table's alias is the model's name. Some databases compare aliases case-insensitively. */
  #joined({ relation: { name, association } }: Hop, hops: Hops, before: string): Joined {
    const isMain = this.#isRenaming && before === '' && name.toLowerCase() === association.source.name.toLowerCase()
    const as = isMain ? SAME_AS_MAIN : name
    return { hops, as, alias: before === '' ? as : `${before}->${as}` }
  }

  /** Shortens aliases that are longer than `longest` bytes. String literals are not changed. */
  shorten(sql: string, longest: number, quoted: (name: string) => string): string {
    const short = new Map<string, string>()
    for (const [index, { alias }] of [...this.#byPath.values()].entries()) {
      if (Buffer.byteLength(alias) > longest) short.set(quoted(alias), quoted(`_j${index}`))
    }
    return short.size === 0 ? sql : sql.replace(QUOTED, (text) => short.get(text) ?? text)
  }
}

/** String literals and quoted identifiers of PostgreSQL, which limits the length of aliases. */
const QUOTED = /\bE'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"/gs

/** Paths that share a join must have the same relations and guards. */
function isSame(one: Hops, other: Hops): boolean {
  return one.every(({ relation, guard }, index) => relation === other[index]?.relation && guard === other[index].guard)
}
