import type { ForeignKey, Table } from './schema.js'
import { camelCase, type Names, wordsOf } from './words.js'

/** A table with the names of its model. */
export interface Named {
  readonly table: Table
  /** Name of the constant or class. */
  readonly identifier: string
  /** Name of the model in Sequelize. */
  readonly model: string
  readonly plural: string
  /** Attributes by column. */
  readonly attributes: ReadonlyMap<string, string>
  /** Names of attributes and associations. They must differ, because records have both as members. */
  readonly names: Names
}

export type Association =
  | {
      readonly kind: 'belongsTo' | 'hasMany' | 'hasOne'
      readonly source: Named
      readonly target: Named
      readonly as: string
      readonly key: string
      readonly at: string | null
    }
  | {
      readonly kind: 'belongsToMany'
      readonly source: Named
      readonly target: Named
      readonly as: string
      readonly through: Named
      readonly key: string
      readonly otherKey: string
    }

/** A foreign key that cannot become an association. */
export interface LeftOut {
  readonly source: Named
  readonly key: ForeignKey
}

interface Tie {
  readonly source: Named
  readonly target: Named
  readonly column: string
  readonly targetColumn: string
  /** Name of the association to the target. */
  readonly as: string
  /** Words of the column name without a suffix such as `id`. */
  readonly words: readonly string[]
}

/** Associations of all models, in both directions. */
export function associationsOf(models: readonly Named[]): {
  readonly associations: readonly Association[]
  readonly leftOut: readonly LeftOut[]
} {
  const byTable = new Map(models.map((each) => [each.table.name, each]))
  const leftOut: LeftOut[] = []
  const ties = models.flatMap((source) =>
    source.table.foreignKeys.flatMap((key): Tie[] => {
      const tie = tieOf(source, key, byTable)
      if (tie === null) leftOut.push({ source, key })
      return tie === null ? [] : [tie]
    }),
  )
  const direct = ties.flatMap((tie) => [belongsTo(tie), inverse(tie, ties)])
  const joined = models.flatMap((through) => across(through, ties))
  return { associations: [...direct, ...joined], leftOut }
}

function tieOf(
  source: Named,
  { columns, table, targets }: ForeignKey,
  byTable: ReadonlyMap<string, Named>,
): Tie | null {
  const target = table === null ? undefined : byTable.get(table)
  const [column, ...others] = columns
  const [targetColumn] = targets
  if (target === undefined || column === undefined || others.length > 0 || targetColumn === undefined) return null
  if (!source.attributes.has(column) || !target.attributes.has(targetColumn)) return null
  const words = wordsWithoutKey(column)
  const as = source.names.take(camelCase(words, camelCase(wordsOf(target.model), 'record')), target.identifier)
  return { source, target, column, targetColumn, as, words }
}

/**
 * `artist_id` and `ArtistId` become `artist`. `reports_to` becomes `reportsTo`, which is already the attribute's name,
 * so the target's name is appended.
 */
function wordsWithoutKey(column: string): readonly string[] {
  const words = wordsOf(column)
  const isKey = words.length > 1 && KEYS.has(words.at(-1) ?? '')
  return isKey ? words.slice(0, -1) : words
}

const KEYS: ReadonlySet<string> = new Set(['id', 'key', 'no', 'code', 'uuid', 'fk'])

function attribute(named: Named, column: string): string {
  return named.attributes.get(column) ?? column
}

/** The referenced attribute, or null for the primary key, which is Sequelize's default. */
function at({ target, targetColumn }: Tie): string | null {
  const [key, ...others] = target.table.primaryKey
  return others.length === 0 && key === targetColumn ? null : attribute(target, targetColumn)
}

function belongsTo(tie: Tie): Association {
  const { source, target, as, column } = tie
  return { kind: 'belongsTo', source, target, as, key: attribute(source, column), at: at(tie) }
}

function inverse(tie: Tie, ties: readonly Tie[]): Association {
  const { source, target, column } = tie
  const isAlone = ties.filter((each) => each.source === source && each.target === target).length === 1
  const isOnly = [source.table.primaryKey, ...source.table.uniques].some(
    ([first, ...rest]) => first === column && rest.length === 0,
  )
  const words = wordsOf(isOnly ? source.model : source.plural)
  const suffix = isAlone && source !== target ? [] : ['by', ...tie.words]
  const as = target.names.take(camelCase([...words, ...suffix], 'records'), `By${source.identifier}`)
  const kind = isOnly ? 'hasOne' : 'hasMany'
  return { kind, source: target, target: source, as, key: attribute(source, column), at: at(tie) }
}

/** Many-to-many associations through a table whose key consists of two foreign keys. */
function across(through: Named, ties: readonly Tie[]): readonly Association[] {
  const own = ties.filter(({ source }) => source === through)
  const key = new Set(through.table.primaryKey)
  const [left, right, ...others] = own.filter(({ column }) => key.has(column))
  if (left === undefined || right === undefined || others.length > 0 || key.size !== 2) return []
  // Both foreign keys must refer to primary keys.
  if (at(left) !== null || at(right) !== null) return []
  return [crossing(through, left, right), crossing(through, right, left)]
}

function crossing(through: Named, near: Tie, far: Tie): Association {
  const { target: source } = near
  const { target } = far
  const isSelf = source === target
  const words = isSelf ? [...wordsOf(target.plural), 'by', ...far.words] : wordsOf(target.plural)
  return {
    kind: 'belongsToMany',
    source,
    target,
    through,
    as: source.names.take(camelCase(words, 'records'), `Through${through.identifier}`),
    key: attribute(through, near.column),
    otherKey: attribute(through, far.column),
  }
}
