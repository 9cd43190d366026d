import type { IncludeOptions } from 'sequelize'
import type { Join } from '../../types/plan.js'
import { internalError } from '../common/internalError.js'
import { aliasOfPath } from './presentTables.js'

type JoinPath = readonly Join[]

/** Alias for a joined table whose name equals the main table's alias. */
const RENAMED_ALIAS = '_j'

/** A joined table. `localAlias` is the last part of `alias`. */
interface JoinedTable {
  readonly joins: JoinPath
  readonly localAlias: string
  readonly alias: string
}

/**
 * Joined tables of a statement, without duplicates. The tables are identified by relation paths in Sequelize's alias
 * syntax.
 */
export class JoinedTables {
  readonly #byPath = new Map<string, JoinedTable>()
  readonly #isRenaming: boolean
  #tree: { readonly size: number; readonly roots: IncludeOptions[] } | null = null

  /** `isRenaming` is false for Sequelize finders, which require their own aliases. */
  constructor(isRenaming: boolean) {
    this.#isRenaming = isRenaming
  }

  /**
   * Builds Sequelize's `include` tree of the joins. `made` builds each node. Returns the same tree as before if no
   * joins were added.
   */
  buildTree(
    made: (
      join: Join,
      table: { readonly path: string; readonly alias: string; readonly before: string },
    ) => IncludeOptions,
  ): IncludeOptions[] {
    const { size } = this.#byPath
    if (this.#tree?.size === size) return this.#tree.roots
    const roots: IncludeOptions[] = []
    const byPath = new Map<string, IncludeOptions>()
    for (const [path, { joins, localAlias, alias }] of this.#byPath) {
      const join = joins.at(-1)
      if (join === undefined) continue
      const before = aliasOfPath(joins.slice(0, -1))
      const plain = made(join, { path, alias, before: this.#byPath.get(before)?.alias ?? '' })
      const include = localAlias === join.relation.name ? plain : { ...plain, as: localAlias }
      byPath.set(path, include)
      const parent = byPath.get(before)
      if (parent === undefined) roots.push(include)
      else parent.include = [...(parent.include ?? []), include]
    }
    this.#tree = { size, roots }
    return roots
  }

  /** Adds the joins of a path and returns the last table's alias. */
  addPath(joins: JoinPath): string {
    let alias = ''
    for (const [index, join] of joins.entries()) {
      const prefix = joins.slice(0, index + 1)
      const path = aliasOfPath(prefix)
      const known = this.#byPath.get(path)
      if (known !== undefined && !isSameJoin(known.joins, prefix))
        throw internalError(`two different relation paths have the same SQL alias "${path}"`)
      const joined = known ?? this.#createTable(join, prefix, alias)
      this.#byPath.set(path, joined)
      alias = joined.alias
    }
    return alias
  }

  /**
   * Creates a joined table. An alias that equals the main table's alias is renamed, whatever its case, because some
   * databases ignore case.
   */
  #createTable({ relation: { name, association } }: Join, joins: JoinPath, before: string): JoinedTable {
    const isMain = this.#isRenaming && before === '' && name.toLowerCase() === association.source.name.toLowerCase()
    const as = isMain ? RENAMED_ALIAS : name
    return { joins, localAlias: as, alias: before === '' ? as : `${before}->${as}` }
  }

  /** Shortens aliases that are longer than `longest` bytes. String literals are not changed. */
  shortenAliases(sql: string, longest: number, quoted: (name: string) => string): string {
    const short = new Map<string, string>()
    for (const [index, { alias }] of [...this.#byPath.values()].entries()) {
      if (Buffer.byteLength(alias) > longest) short.set(quoted(alias), quoted(`_j${index}`))
    }
    return short.size === 0 ? sql : sql.replace(QUOTED_TEXT, (text) => short.get(text) ?? text)
  }
}

/** Matches string literals and quoted identifiers of PostgreSQL, which limits the length of aliases. */
const QUOTED_TEXT = /\bE'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"/gs

/** Whether two paths have equal relations and conditions, so that one join serves both. */
function isSameJoin(one: JoinPath, other: JoinPath): boolean {
  return one.every(
    ({ relation, condition }, index) => relation === other[index]?.relation && condition === other[index].condition,
  )
}
