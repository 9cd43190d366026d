import type { ForeignKey, Table } from './schema.js'
import { type Names, splitWords, toCamelCase } from './words.js'

/** A table with the names of its model. */
export interface NamedTable {
  readonly table: Table
  /** Name of the constant or class in the source code. */
  readonly identifier: string
  /** Name of the model in Sequelize. */
  readonly model: string
  readonly plural: string
  /** Attributes by column. */
  readonly attributes: ReadonlyMap<string, string>
  /**
   * Names of attributes and associations. Each name is used once, because records have attributes and associations as
   * members.
   */
  readonly names: Names
}

export type Association =
  | {
      readonly kind: 'belongsTo' | 'hasMany' | 'hasOne'
      readonly source: NamedTable
      readonly target: NamedTable
      readonly as: string
      readonly key: string
      readonly at: string | null
    }
  | {
      readonly kind: 'belongsToMany'
      readonly source: NamedTable
      readonly target: NamedTable
      readonly as: string
      readonly through: NamedTable
      readonly key: string
      readonly otherKey: string
    }

/** A foreign key that cannot become an association. */
export interface SkippedForeignKey {
  readonly source: NamedTable
  readonly key: ForeignKey
}

interface Reference {
  readonly source: NamedTable
  readonly target: NamedTable
  readonly column: string
  readonly targetColumn: string
  /** Name of the association from the foreign key's table to the referenced table. */
  readonly as: string
  /** Words of the foreign key's column name, without a suffix such as `id`. */
  readonly columnWords: readonly string[]
}

/** Finds the associations of all models, in both directions. */
export function findAssociations(models: readonly NamedTable[]): {
  readonly associations: readonly Association[]
  readonly skipped: readonly SkippedForeignKey[]
} {
  const byTable = new Map(models.map((each) => [each.table.name, each]))
  const skipped: SkippedForeignKey[] = []
  const references = models.flatMap((source) =>
    source.table.foreignKeys.flatMap((key): Reference[] => {
      const reference = findReference(source, key, byTable)
      if (reference === null) skipped.push({ source, key })
      return reference === null ? [] : [reference]
    }),
  )
  const direct = references.flatMap((reference) => [toBelongsTo(reference), toInverse(reference, references)])
  const joined = models.flatMap((through) => manyToMany(through, references))
  return { associations: [...direct, ...joined], skipped }
}

function findReference(
  source: NamedTable,
  { columns, table, targets }: ForeignKey,
  byTable: ReadonlyMap<string, NamedTable>,
): Reference | null {
  const target = table === null ? undefined : byTable.get(table)
  const [column, ...others] = columns
  const [targetColumn] = targets
  if (target === undefined || column === undefined || others.length > 0 || targetColumn === undefined) return null
  if (!source.attributes.has(column) || !target.attributes.has(targetColumn)) return null
  const words = removeKeyWord(column)
  const as = source.names.take(toCamelCase(words, toCamelCase(splitWords(target.model), 'record')), target.identifier)
  return { source, target, column, targetColumn, as, columnWords: words }
}

/**
 * Splits a foreign key's column name into words, without a suffix such as `id`: `artist_id` and `ArtistId` become
 * `artist`. `reports_to` keeps its words.
 */
function removeKeyWord(column: string): readonly string[] {
  const words = splitWords(column)
  const isKey = words.length > 1 && KEY_WORDS.has(words.at(-1) ?? '')
  return isKey ? words.slice(0, -1) : words
}

const KEY_WORDS: ReadonlySet<string> = new Set(['id', 'key', 'no', 'code', 'uuid', 'fk'])

function attributeOf(named: NamedTable, column: string): string {
  return named.attributes.get(column) ?? column
}

/** The attribute that a foreign key refers to. Returns null for the primary key, which is Sequelize's default. */
function targetKeyOf({ target, targetColumn }: Reference): string | null {
  const [key, ...others] = target.table.primaryKey
  return others.length === 0 && key === targetColumn ? null : attributeOf(target, targetColumn)
}

function toBelongsTo(reference: Reference): Association {
  const { source, target, as, column } = reference
  return { kind: 'belongsTo', source, target, as, key: attributeOf(source, column), at: targetKeyOf(reference) }
}

function toInverse(reference: Reference, references: readonly Reference[]): Association {
  const { source, target, column } = reference
  const isAlone = references.filter((each) => each.source === source && each.target === target).length === 1
  const isOnly = [source.table.primaryKey, ...source.table.uniques].some(
    ([first, ...rest]) => first === column && rest.length === 0,
  )
  const words = splitWords(isOnly ? source.model : source.plural)
  const suffix = isAlone && source !== target ? [] : ['by', ...reference.columnWords]
  const as = target.names.take(toCamelCase([...words, ...suffix], 'records'), `By${source.identifier}`)
  const kind = isOnly ? 'hasOne' : 'hasMany'
  return { kind, source: target, target: source, as, key: attributeOf(source, column), at: targetKeyOf(reference) }
}

/** Builds many-to-many associations through a table whose key consists of two foreign keys. */
function manyToMany(through: NamedTable, references: readonly Reference[]): readonly Association[] {
  const own = references.filter(({ source }) => source === through)
  const key = new Set(through.table.primaryKey)
  const [left, right, ...others] = own.filter(({ column }) => key.has(column))
  if (left === undefined || right === undefined || others.length > 0 || key.size !== 2) return []
  // Both foreign keys must refer to primary keys.
  if (targetKeyOf(left) !== null || targetKeyOf(right) !== null) return []
  return [toBelongsToMany(through, left, right), toBelongsToMany(through, right, left)]
}

function toBelongsToMany(through: NamedTable, near: Reference, far: Reference): Association {
  const { target: source } = near
  const { target } = far
  const isSelf = source === target
  const words = isSelf ? [...splitWords(target.plural), 'by', ...far.columnWords] : splitWords(target.plural)
  return {
    kind: 'belongsToMany',
    source,
    target,
    through,
    as: source.names.take(toCamelCase(words, 'records'), `Through${through.identifier}`),
    key: attributeOf(through, near.column),
    otherKey: attributeOf(through, far.column),
  }
}
