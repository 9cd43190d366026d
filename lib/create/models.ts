import { isSecretName } from '../common/secretNames.js'
import { parseRules, type Rule } from './checks.js'
import type { Choices } from './choices.js'
import { type ColumnType, findColumnType } from './columnType.js'
import { type Association, findAssociations, type NamedTable, type SkippedForeignKey } from './relations.js'
import type { Column, Schema, Table } from './schema.js'
import { toArrayLiteral, toComment, toLiteral, toUnboundSql } from './text.js'
import { type Grammar, Names, RESERVED_MEMBERS, RESERVED_NAMES, splitWords, toCamelCase, toModelName } from './words.js'

/** A model of the application, with its identifier and the source code of its router's options. */
export interface WrittenModel {
  readonly identifier: string
  readonly model: string
  /** Path of the model's collection. */
  readonly path: string
  /** Source code of the router's options. null if the router needs no options. */
  readonly options: string | null
}

export interface WrittenModels {
  /** Source code of models and associations, without the connection. */
  readonly source: string
  readonly models: readonly WrittenModel[]
  /** Messages for the user about skipped tables, columns and keys. */
  readonly notes: readonly string[]
}

/** A table that becomes a model, with its supported columns. */
interface SupportedTable {
  readonly table: Table
  readonly columns: ReadonlyMap<string, ColumnType>
}

type Settings = Pick<Choices, 'database' | 'language'>

/** The table in which the option `idempotency` stores replies. A resource over the table would show them to all callers. */
const REPLIES = 'crud_idempotency_keys'

export function writeModels(schema: Schema, settings: Settings, grammar: Grammar): WrittenModels {
  const notes: string[] = []
  const supported = schema.tables.flatMap((table) => findSupportedTables(table, settings, notes))
  const named = nameTables(supported, grammar)
  const { associations, skipped } = findAssociations(named)
  for (const each of skipped) notes.push(describeSkipped(each))
  for (const { table, attributes } of named)
    for (const column of attributes.keys()) if (isHidden(table, column)) notes.push(describeHidden(table, column))
  const typesOf = new Map(supported.map(({ table, columns }) => [table, columns]))
  const write = settings.language === 'typescript' ? writeTypedModel : writePlainModel
  const models = named.map((each) => write(each, typesOf.get(each.table) ?? new Map(), settings, grammar))
  const lines = associations.map(writeAssociation)
  const others = notes.map((note) => toComment(note))
  return {
    source: [...models, [...lines, ...others].join('\n')].filter((part) => part !== '').join('\n\n'),
    models: named.map(toWrittenModel),
    notes,
  }
}

/**
 * Returns the table in an array if it can become a model, otherwise an empty array. A model needs a key and supported
 * names.
 */
function findSupportedTables(table: Table, { database }: Settings, notes: string[]): readonly SupportedTable[] {
  const required = new Set(table.columns.filter(({ isNullable }) => !isNullable).map(({ name }) => name))
  const otherKey = table.uniques.find((columns) => columns.every((column) => required.has(column)))
  const primaryKey = table.primaryKey.length > 0 ? table.primaryKey : (otherKey ?? [])
  const columns = new Map<string, ColumnType>()
  const quote = database === 'postgres' ? '"' : '`'
  if (table.name.includes(quote)) {
    notes.push(`The table ${table.name} is left out: Sequelize does not support the quote in its name.`)
    return []
  }
  if (table.name === REPLIES) {
    notes.push(`The table ${table.name} is left out: it has the replies that the option idempotency stores.`)
    return []
  }
  for (const column of table.columns) {
    const type = findColumnType(column, database)
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

function nameTables(supported: readonly SupportedTable[], grammar: Grammar): readonly NamedTable[] {
  const models = new Names()
  const plurals = new Names()
  const identifiers = new Names(RESERVED_NAMES)
  return supported.map(({ table, columns }) => {
    const model = models.take(toModelName(table.name, grammar))
    const identifier = identifiers.take(model, 'Model')
    const names = new Names(RESERVED_MEMBERS)
    const attributes = new Map(
      [...columns.keys()].map((column) => [column, names.take(toCamelCase(splitWords(column), 'column'), 'Value')]),
    )
    return { table, identifier, model, plural: plurals.take(grammar.pluralize(model)), attributes, names }
  })
}

function describeSkipped({ source, key }: SkippedForeignKey): string {
  const columns = `${source.table.name} (${key.columns.join(', ')})`
  return key.columns.length > 1
    ? `The foreign key ${columns} is left out: Sequelize's associations have one column.`
    : `The foreign key ${columns} is left out: its table has no model.`
}

function toWrittenModel({ table, identifier, model, plural, attributes }: NamedTable): WrittenModel {
  const key = table.primaryKey.map((column) => attributes.get(column) ?? column)
  const fields = table.columns.flatMap((column) => {
    const attribute = attributes.get(column.name)
    const excluded = excludedShapesOf(table, column)
    if (attribute === undefined || excluded.length === 0) return []
    return [`${attribute}: { exclude: ${toArrayLiteral(excluded)} }`]
  })
  // The key is configured, because a router would otherwise use the attribute `id` as the key.
  const isOther = [...attributes.values()].includes('id') && key.join() !== 'id'
  const options = [
    ...(isOther ? [`keyProperty: ${key.length === 1 ? toLiteral(key[0] ?? '') : toArrayLiteral(key)}`] : []),
    ...(fields.length > 0 ? [`fields: { ${fields.join(', ')} }`] : []),
  ]
  const path = `/api/${plural.toLowerCase()}`
  return { identifier, model, path, options: options.length === 0 ? null : `{ ${options.join(', ')} }` }
}

/** Returns the shapes without a column. Clients cannot write a computed column, and cannot read a secret. */
function excludedShapesOf(table: Table, { name, isComputed }: Column): readonly string[] {
  return [...(isComputed ? ['create', 'update'] : []), ...(isHidden(table, name) ? ['query', 'response'] : [])]
}

/** Whether clients cannot read a column. Every URL has the key, so a key cannot be hidden. */
function isHidden({ primaryKey }: Table, column: string): boolean {
  return isSecretName(column) && !primaryKey.includes(column)
}

function describeHidden({ name }: Table, column: string): string {
  return `The column ${column} of ${name} is in no response, because it has the name of a secret.`
}

// ---------------------------------------------------------------- one model

function writeTypedModel(
  named: NamedTable,
  types: ReadonlyMap<string, ColumnType>,
  settings: Settings,
  grammar: Grammar,
): string {
  const { identifier } = named
  const declared = typedColumns(named, types).map(([column, name, type]) => {
    const isOptional = column.isNumbered || column.default !== null || column.isComputed
    const value = column.isNullable && !isKeyColumn(named, column) ? `${type.tsType} | null` : type.tsType
    return `  declare ${name}: ${isOptional ? `CreationOptional<${value}>` : value}`
  })
  return [
    ...writeComments(named),
    `export class ${identifier} extends Model<InferAttributes<${identifier}>, InferCreationAttributes<${identifier}>> {`,
    ...declared,
    '}',
    '',
    `${identifier}.init(`,
    writeAttributes(named, types, settings),
    `  ${writeOptions(named, grammar, ['sequelize', `modelName: ${toLiteral(named.model)}`])},`,
    ')',
  ].join('\n')
}

function writePlainModel(
  named: NamedTable,
  types: ReadonlyMap<string, ColumnType>,
  settings: Settings,
  grammar: Grammar,
): string {
  return [
    ...writeComments(named),
    `export const ${named.identifier} = sequelize.define(`,
    `  ${toLiteral(named.model)},`,
    writeAttributes(named, types, settings),
    `  ${writeOptions(named, grammar, [])},`,
    ')',
  ].join('\n')
}

function writeComments({ table }: NamedTable): readonly string[] {
  return table.comment === null ? [] : [toComment(table.comment)]
}

type TypedColumn = readonly [column: Column, attribute: string, type: ColumnType]

function typedColumns(
  { table, attributes }: NamedTable,
  types: ReadonlyMap<string, ColumnType>,
): readonly TypedColumn[] {
  return table.columns.flatMap((column): TypedColumn[] => {
    const [name, type] = [attributes.get(column.name), types.get(column.name)]
    return name === undefined || type === undefined ? [] : [[column, name, type]]
  })
}

function isKeyColumn({ table }: NamedTable, { name }: Column): boolean {
  return table.primaryKey.includes(name)
}

function writeOptions(named: NamedTable, grammar: Grammar, first: readonly string[]): string {
  const { table, plural, model, attributes } = named
  const composite = table.uniques.filter(
    (columns) => columns.length > 1 && columns.every((each) => attributes.has(each)),
  )
  const indexes = composite.map((columns) => `{ unique: true, fields: ${toArrayLiteral(columns)} }`)
  // Names are written only if Sequelize would derive other names.
  const isUsual = grammar.pluralize(model) === plural && grammar.singularize(model) === model
  const members = [
    ...first,
    `tableName: ${toLiteral(table.name)}`,
    ...(isUsual ? [] : [`name: { singular: ${toLiteral(model)}, plural: ${toLiteral(plural)} }`]),
    'timestamps: false',
    ...(indexes.length > 0 ? [`indexes: [${indexes.join(', ')}]`] : []),
  ]
  const line = `{ ${members.join(', ')} }`
  return line.length <= LINE_WIDTH ? line : `{\n${members.map((member) => `    ${member},\n`).join('')}  }`
}

/** Maximum line length of the source code. */
const LINE_WIDTH = 115

function writeAttributes(named: NamedTable, types: ReadonlyMap<string, ColumnType>, settings: Settings): string {
  const rules = named.table.checks.flatMap((check) => parseRules(check, /^m/.test(settings.database)))
  const lines = typedColumns(named, types).flatMap(([column, name, type]) => {
    const own = rules.filter((rule) => isRuleOf(rule, column, named.table))
    const about = column.comment === null ? [] : [`    ${toComment(column.comment)}`]
    return [...about, `    ${name}: ${writeAttribute(named, column, name, type, own, settings)},`]
  })
  return ['  {', ...lines, '  },'].join('\n')
}

/** Whether a rule is about a column. Some databases change the case of unquoted names, so case may differ. */
function isRuleOf({ column }: Rule, { name }: Column, { columns }: Table): boolean {
  if (columns.some((each) => each.name === column)) return column === name
  return column.toLowerCase() === name.toLowerCase()
}

function writeAttribute(
  named: NamedTable,
  column: Column,
  name: string,
  type: ColumnType,
  rules: readonly Rule[],
  settings: Settings,
): string {
  const isPrimary = isKeyColumn(named, column)
  const isUnique = named.table.uniques.some(([first, ...others]) => first === column.name && others.length === 0)
  const initial = writeDefault(column, type, settings)
  const validate = writeValidate(rules, type)
  const members = [
    `type: ${type.source}`,
    ...(name === column.name ? [] : [`field: ${toLiteral(column.name)}`]),
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

function writeDefault(
  { default: initial, isNumbered, isComputed }: Column,
  type: ColumnType,
  { database }: Settings,
): string | null {
  if (initial === null || isNumbered || isComputed) return null
  if ('expression' in initial) {
    if (type.kind === 'date' && NOW.test(initial.expression)) return 'DataTypes.NOW'
    return writeExpression(initial.expression, database)
  }
  const { value } = initial
  if (type.kind === 'boolean') return /^(?:1|t|true|yes|on)$/i.test(value) ? 'true' : 'false'
  if (type.tsType === 'number' && /^-?\d{1,15}(?:\.\d+)?$/.test(value)) return String(Number(value))
  if (type.kind === 'text' || type.kind === 'date' || type.tsType === 'string') return toLiteral(value)
  return writeExpression(`'${value.replaceAll("'", "''")}'`, database)
}

/**
 * Writes a default that is an SQL expression. SQLite needs the expression itself, because it does not accept DEFAULT as
 * a value.
 */
function writeExpression(expression: string, database: Settings['database']): string {
  return `Sequelize.literal(${toLiteral(database === 'sqlite' ? `(${toUnboundSql(expression)})` : 'DEFAULT')})`
}

function writeValidate(rules: readonly Rule[], type: ColumnType): string | null {
  const findBound = (kind: Rule['kind']): number | null => rules.find((rule) => rule.kind === kind)?.bound ?? null
  const values = rules.find(({ kind }) => kind === 'values')?.values
  const [shortest, longest, min, max] = [
    findBound('minLength'),
    findBound('maxLength'),
    findBound('min'),
    findBound('max'),
  ]
  const isText = type.kind === 'text'
  const hasLength = isText && (shortest !== null || longest !== null)
  const members = [
    ...(hasLength ? [`len: [${shortest ?? 0}, ${longest ?? 1_000_000_000}]`] : []),
    ...(type.kind === 'number' && min !== null ? [`min: ${min}`] : []),
    ...(type.kind === 'number' && max !== null ? [`max: ${max}`] : []),
    ...(isText && values !== undefined && !type.source.startsWith('DataTypes.ENUM')
      ? [`isIn: [${toArrayLiteral(values)}]`]
      : []),
  ]
  return members.length === 0 ? null : `{ ${members.join(', ')} }`
}

// ---------------------------------------------------------------- associations

function writeAssociation(association: Association): string {
  const { kind, source, target, as, key } = association
  const members = [`as: ${toLiteral(as)}`, `foreignKey: ${toLiteral(key)}`]
  if (kind === 'belongsToMany') {
    const { through, otherKey } = association
    members.push(`otherKey: ${toLiteral(otherKey)}`, `through: ${through.identifier}`)
  } else if (association.at !== null) {
    members.push(`${kind === 'belongsTo' ? 'targetKey' : 'sourceKey'}: ${toLiteral(association.at)}`)
  }
  return `${source.identifier}.${kind}(${target.identifier}, { ${members.join(', ')} })`
}
