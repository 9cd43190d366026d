import type { IncludeOptions } from 'sequelize'
import type { Hop } from '../../types/plan.js'
import { pathOf } from './presence.js'

type Hops = readonly Hop[]

/** The alias of a joined table that would have the alias of the main table. */
const SAME_AS_MAIN = '_j'

/** A joined table. `as` is its alias below that of the table before it. */
interface Joined {
  readonly hops: Hops
  readonly as: string
  readonly alias: string
}

/** The tables that a statement joins, each once, by the path to it, which is Sequelize's alias for it. */
export class Joins {
  readonly #byPath = new Map<string, Joined>()
  readonly #isRenaming: boolean

  /** Finders of Sequelize take no other aliases than their own: `isRenaming` is false for them. */
  constructor(isRenaming: boolean) {
    this.#isRenaming = isRenaming
  }

  /** The tables as Sequelize includes them, each made from its hop, its path, its alias and the alias of the table before it. */
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

  /** Adds what a path crosses, parents first, and gives the alias of its end. */
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

  /** The main table has its model's name for an alias, and some databases ignore the case of aliases. */
  #joined({ relation: { name, association } }: Hop, hops: Hops, before: string): Joined {
    const isMain = this.#isRenaming && before === '' && name.toLowerCase() === association.source.name.toLowerCase()
    const as = isMain ? SAME_AS_MAIN : name
    return { hops, as, alias: before === '' ? as : `${before}->${as}` }
  }

  /** A text with short names for those whose own are longer than so many bytes. Literals of the text keep what they have. */
  shorten(sql: string, longest: number, quoted: (name: string) => string): string {
    const short = new Map<string, string>()
    for (const [index, { alias }] of [...this.#byPath.values()].entries()) {
      if (Buffer.byteLength(alias) > longest) short.set(quoted(alias), quoted(`_j${index}`))
    }
    return short.size === 0 ? sql : sql.replace(QUOTED, (text) => short.get(text) ?? text)
  }
}

/** Literals and quoted names of PostgreSQL, the database that takes no long aliases. */
const QUOTED = /\bE'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"/gs

/** Of what is joined once, every path must say the same. */
function isSame(one: Hops, other: Hops): boolean {
  return one.every(({ relation, guard }, index) => relation === other[index]?.relation && guard === other[index].guard)
}
