import { type Rule, rulesOf } from './checks.js'
import type { Choices } from './choices.js'
import { type ColumnType, columnTypeOf } from './columnType.js'
import { type Association, associationsOf, type LeftOut, type Named } from './relations.js'
import type { Column, Schema, Table } from './schema.js'
import { comment, literal, literals } from './text.js'
import { camelCase, GLOBALS, type Grammar, MEMBERS, modelName, Names, wordsOf } from './words.js'

/** A model of the application: its identifier, and the source of its router's options. */
export interface WrittenModel {
  readonly identifier: string
  readonly model: string
  /** Path of its collection. */
  readonly path: string
  /** null: no options. */
  readonly options: string | null
}

export interface WrittenModels {
  /** Models and associations, without the connection. */
  readonly source: string
  readonly models: readonly WrittenModel[]
  /** Messages for the user about tables, columns and keys that are left out. */
  readonly notes: readonly string[]
}

/** A table that becomes a model, with its supported columns. */
interface Kept {
  readonly table: Table
  readonly columns: ReadonlyMap<string, ColumnType>
}

type Settings = Pick<Choices, 'database' | 'language'>

export function writeModels(schema: Schema, settings: Settings, grammar: Grammar): WrittenModels {
  const notes: string[] = []
  const kept = schema.tables.flatMap((table) => keptOf(table, settings, notes))
  const named = namedOf(kept, grammar)
  const { associations, leftOut } = associationsOf(named)
  for (const each of leftOut) notes.push(leftOutNote(each))
  const typesOf = new Map(kept.map(({ table, columns }) => [table, columns]))
  const write = settings.language === 'typescript' ? typedModel : plainModel
  const models = named.map((each) => write(each, typesOf.get(each.table) ?? new Map(), settings, grammar))
  const lines = associations.map(associationLine)
  const others = notes.map((note) => comment(note))
  return {
    source: [...models, [...lines, ...others].join('\n')].filter((part) => part !== '').join('\n\n'),
    models: named.map(writtenOf),
    notes,
  }
}

/** The table if it can become a model: a model needs a key. */
function keptOf(table: Table, { database }: Settings, notes: string[]): readonly Kept[] {
  const required = new Set(table.columns.filter(({ isNullable }) => !isNullable).map(({ name }) => name))
  const otherKey = table.uniques.find((columns) => columns.every((column) => required.has(column)))
  const primaryKey = table.primaryKey.length > 0 ? table.primaryKey : (otherKey ?? [])
  const columns = new Map<string, ColumnType>()
  const quote = database === 'postgres' ? '"' : '`'
  if (table.name.includes(quote)) {
    notes.push(`The table ${table.name} is left out: Sequelize does not support the quote in its name.`)
    return []
  }
  for (const column of table.columns) {
    const type = columnTypeOf(column, database)
    if (column.name.includes(quote)) {
      notes.push(
        `The column ${column.name} of ${table.name} is left out: Sequelize does not support the quote in its name.`,
      )
      continue
    }
    if (type !== null) columns.set(column.name, type)
    else notes.push(`The column ${column.name} of ${table.name} is left out: Sequelize has no type for ${column.type}.`)
  }
  if (primaryKey.length > 0 && primaryKey.every((column) => columns.has(column))) {
    return [{ table: { ...table, primaryKey }, columns }]
  }
  notes.push(`The table ${table.name} is left out: it has no primary key and no required unique key.`)
  return []
}

function namedOf(kept: readonly Kept[], grammar: Grammar): readonly Named[] {
  const models = new Names()
  const plurals = new Names()
  const identifiers = new Names(GLOBALS)
  return kept.map(({ table, columns }) => {
    const model = models.take(modelName(table.name, grammar))
    const identifier = identifiers.take(model, 'Model')
    const names = new Names(MEMBERS)
    const attributes = new Map(
      [...columns.keys()].map((column) => [column, names.take(camelCase(wordsOf(column), 'column'), 'Value')]),
    )
    return { table, identifier, model, plural: plurals.take(grammar.pluralize(model)), attributes, names }
  })
}

function leftOutNote({ source, key }: LeftOut): string {
  const columns = `${source.table.name} (${key.columns.join(', ')})`
  return key.columns.length > 1
    ? `The foreign key ${columns} is left out: Sequelize's associations have one column.`
    : `The foreign key ${columns} is left out: its table has no model.`
}

function writtenOf({ table, identifier, model, plural, attributes }: Named): WrittenModel {
  const computed = table.columns.filter(({ isComputed, name }) => isComputed && attributes.has(name))
  const key = table.primaryKey.map((column) => attributes.get(column) ?? column)
  const fields = computed.map(({ name }) => `${attributes.get(name)}: { exclude: ['create', 'update'] }`)
  // A router would use an attribute named `id` as key.
  const isOther = [...attributes.values()].includes('id') && key.join() !== 'id'
  const options = [
    ...(isOther ? [`keyProperty: ${key.length === 1 ? literal(key[0] ?? '') : literals(key)}`] : []),
    ...(fields.length > 0 ? [`fields: { ${fields.join(', ')} }`] : []),
  ]
  const path = `/api/${plural.toLowerCase()}`
  return { identifier, model, path, options: options.length === 0 ? null : `{ ${options.join(', ')} }` }
}

// ---------------------------------------------------------------- one model

function typedModel(
  named: Named,
  types: ReadonlyMap<string, ColumnType>,
  settings: Settings,
  grammar: Grammar,
): string {
  const { identifier } = named
  const declared = columnsOf(named, types).map(([column, name, type]) => {
    const isLeft = column.isNumbered || column.default !== null || column.isComputed
    const value = column.isNullable && !isKey(named, column) ? `${type.typed} | null` : type.typed
    return `  declare ${name}: ${isLeft ? `CreationOptional<${value}>` : value}`
  })
  return [
    ...commentsOf(named),
    `export class ${identifier} extends Model<InferAttributes<${identifier}>, InferCreationAttributes<${identifier}>> {`,
    ...declared,
    '}',
    '',
    `${identifier}.init(`,
    attributesSource(named, types, settings),
    `  ${optionsSource(named, grammar, ['sequelize', `modelName: ${literal(named.model)}`])},`,
    ')',
  ].join('\n')
}

function plainModel(
  named: Named,
  types: ReadonlyMap<string, ColumnType>,
  settings: Settings,
  grammar: Grammar,
): string {
  return [
    ...commentsOf(named),
    `export const ${named.identifier} = sequelize.define(`,
    `  ${literal(named.model)},`,
    attributesSource(named, types, settings),
    `  ${optionsSource(named, grammar, [])},`,
    ')',
  ].join('\n')
}

function commentsOf({ table }: Named): readonly string[] {
  return table.comment === null ? [] : [comment(table.comment)]
}

type Typed = readonly [column: Column, attribute: string, type: ColumnType]

function columnsOf({ table, attributes }: Named, types: ReadonlyMap<string, ColumnType>): readonly Typed[] {
  return table.columns.flatMap((column): Typed[] => {
    const [name, type] = [attributes.get(column.name), types.get(column.name)]
    return name === undefined || type === undefined ? [] : [[column, name, type]]
  })
}

function isKey({ table }: Named, { name }: Column): boolean {
  return table.primaryKey.includes(name)
}

function optionsSource(named: Named, grammar: Grammar, first: readonly string[]): string {
  const { table, plural, model, attributes } = named
  const several = table.uniques.filter((columns) => columns.length > 1 && columns.every((each) => attributes.has(each)))
  const indexes = several.map((columns) => `{ unique: true, fields: ${literals(columns)} }`)
  // Sequelize derives regular names itself.
  const isUsual = grammar.pluralize(model) === plural && grammar.singularize(model) === model
  const members = [
    ...first,
    `tableName: ${literal(table.name)}`,
    ...(isUsual ? [] : [`name: { singular: ${literal(model)}, plural: ${literal(plural)} }`]),
    'timestamps: false',
    ...(indexes.length > 0 ? [`indexes: [${indexes.join(', ')}]`] : []),
  ]
  const line = `{ ${members.join(', ')} }`
  return line.length <= WIDTH ? line : `{\n${members.map((member) => `    ${member},\n`).join('')}  }`
}

/** Maximum line length of the source. */
const WIDTH = 115

function attributesSource(named: Named, types: ReadonlyMap<string, ColumnType>, settings: Settings): string {
  const rules = named.table.checks.flatMap((check) => rulesOf(check, /^m/.test(settings.database)))
  const lines = columnsOf(named, types).flatMap(([column, name, type]) => {
    const own = rules.filter((rule) => isOf(rule, column, named.table))
    const about = column.comment === null ? [] : [`    ${comment(column.comment)}`]
    return [...about, `    ${name}: ${attributeSource(named, column, name, type, own, settings)},`]
  })
  return ['  {', ...lines, '  },'].join('\n')
}

/** Some databases change the case of unquoted names. */
function isOf({ column }: Rule, { name }: Column, { columns }: Table): boolean {
  if (columns.some((each) => each.name === column)) return column === name
  return column.toLowerCase() === name.toLowerCase()
}

function attributeSource(
  named: Named,
  column: Column,
  name: string,
  type: ColumnType,
  rules: readonly Rule[],
  settings: Settings,
): string {
  const isPrimary = isKey(named, column)
  const isUnique = named.table.uniques.some(([first, ...others]) => first === column.name && others.length === 0)
  const initial = defaultSource(column, type, settings)
  const validate = validateSource(rules, type)
  const members = [
    `type: ${type.source}`,
    ...(name === column.name ? [] : [`field: ${literal(column.name)}`]),
    ...(isPrimary ? ['primaryKey: true'] : []),
    ...(column.isNumbered ? ['autoIncrement: true'] : []),
    ...(isPrimary || column.isNullable || column.isComputed ? [] : ['allowNull: false']),
    ...(isUnique && !isPrimary ? ['unique: true'] : []),
    ...(initial === null ? [] : [`defaultValue: ${initial}`]),
    ...(validate === null ? [] : [`validate: ${validate}`]),
  ]
  return `{ ${members.join(', ')} }`
}

const NOW = /^(?:now\(\)|(?:current_timestamp|localtimestamp|current_date)(?: ?\(\d*\))?)$/i

function defaultSource(
  { default: initial, isNumbered, isComputed }: Column,
  type: ColumnType,
  { database }: Settings,
): string | null {
  if (initial === null || isNumbered || isComputed) return null
  if ('expression' in initial) {
    if (type.kind === 'date' && NOW.test(initial.expression)) return 'DataTypes.NOW'
    return fromDatabase(initial.expression, database)
  }
  const { value } = initial
  if (type.kind === 'boolean') return /^(?:1|t|true|yes|on)$/i.test(value) ? 'true' : 'false'
  if (type.typed === 'number' && /^-?\d{1,15}(?:\.\d+)?$/.test(value)) return String(Number(value))
  if (type.kind === 'text' || type.kind === 'date' || type.typed === 'string') return literal(value)
  return fromDatabase(`'${value.replaceAll("'", "''")}'`, database)
}

/** SQLite does not accept DEFAULT as a value. */
function fromDatabase(expression: string, database: Settings['database']): string {
  return `Sequelize.literal(${literal(database === 'sqlite' ? `(${expression})` : 'DEFAULT')})`
}

function validateSource(rules: readonly Rule[], type: ColumnType): string | null {
  const bound = (kind: Rule['kind']): number | null => rules.find((rule) => rule.kind === kind)?.bound ?? null
  const values = rules.find(({ kind }) => kind === 'values')?.values
  const [shortest, longest, min, max] = [bound('minLength'), bound('maxLength'), bound('min'), bound('max')]
  const isText = type.kind === 'text'
  const hasLength = isText && (shortest !== null || longest !== null)
  const members = [
    ...(hasLength ? [`len: [${shortest ?? 0}, ${longest ?? 1_000_000_000}]`] : []),
    ...(type.kind === 'number' && min !== null ? [`min: ${min}`] : []),
    ...(type.kind === 'number' && max !== null ? [`max: ${max}`] : []),
    ...(isText && values !== undefined && !type.source.startsWith('DataTypes.ENUM')
      ? [`isIn: [${literals(values)}]`]
      : []),
  ]
  return members.length === 0 ? null : `{ ${members.join(', ')} }`
}

// ---------------------------------------------------------------- associations

function associationLine(association: Association): string {
  const { kind, source, target, as, key } = association
  const members = [`as: ${literal(as)}`, `foreignKey: ${literal(key)}`]
  if (kind === 'belongsToMany') {
    const { through, otherKey } = association
    members.push(`otherKey: ${literal(otherKey)}`, `through: ${through.identifier}`)
  } else if (association.at !== null) {
    members.push(`${kind === 'belongsTo' ? 'targetKey' : 'sourceKey'}: ${literal(association.at)}`)
  }
  return `${source.identifier}.${kind}(${target.identifier}, { ${members.join(', ')} })`
}
