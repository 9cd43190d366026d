// Properties of a model and its Sequelize instance.

import {
  type Association,
  type FindOptions,
  type IncludeOptions,
  type Model,
  type ModelAttributeColumnOptions,
  type ModelStatic,
  Sequelize,
  Utils,
} from 'sequelize'
import { type Index, internalsOf, preparationOf, sequelizeOf, type WhereFragment } from './internals.js'
import { oppositeScopeOf, throughScopeOf } from './polymorphic.js'

/** Whether an instance belongs to the copy of Sequelize that this package loads. */
export function isSameSequelize(sequelize: unknown): boolean {
  return sequelize instanceof Sequelize
}

/** Returns the host's `dialectOptions`, in general and of each replica, merged with Sequelize's options. */
export function driverOptionsOf(sequelize: Sequelize): readonly object[] {
  const { options } = internalsOf(sequelize)
  const { standardConformingStrings } = options
  const replicas = [options.replication || {}].flatMap(({ read = [], write = [] }) => [read, write].flat())
  return [options, ...replicas].map(({ dialectOptions }) => ({ ...dialectOptions, standardConformingStrings }))
}

/**
 * Whether any of the hooks exists on the model or globally. The check runs per request, because hosts add hooks at any
 * time.
 */
export function hasHooks(model: ModelStatic<Model>, names: readonly string[]): boolean {
  const own = preparationOf(model).options.hooks ?? {}
  const global = internalsOf(sequelizeOf(model)).options.hooks ?? {}
  for (const name of names) if ((own[name]?.length ?? 0) > 0 || (global[name]?.length ?? 0) > 0) return true
  return false
}

/** Runs the hooks of a kind, like Sequelize. */
export async function runHooks(model: ModelStatic<Model>, name: string, ...given: readonly unknown[]): Promise<void> {
  await (model as object as { runHooks(...given: readonly unknown[]): Promise<void> }).runHooks(name, ...given)
}

/** Find hooks that change query options, in the order in which Sequelize runs them. */
const BEFORE_FIND = ['beforeFind', 'beforeFindAfterExpandIncludeAll', 'beforeFindAfterOptions']

/**
 * Runs the find hooks before the query, and returns options for a `findAll` whose rows are not records. Hooks after the
 * query do not run, because they expect instances.
 */
export async function runBeforeFindHooks(
  model: ModelStatic<Model>,
  options: FindOptions,
): Promise<FindOptions & { readonly hooks: false }> {
  const prepared = { ...options }
  for (const name of BEFORE_FIND) await runHooks(model, name, prepared)
  return { ...prepared, hooks: false }
}

/** Whether Sequelize itself deletes dependent records with their hooks. */
export function hasCascades(model: ModelStatic<Model>): boolean {
  return Object.values(model.associations).some((association) => {
    const { options } = association as object as { options: { hooks?: boolean; onDelete?: string } }
    return options.hooks === true && options.onDelete?.toLowerCase() === 'cascade'
  })
}

/**
 * Returns the attributes that a virtual attribute depends on. Sequelize loads these attributes together with the
 * virtual attribute.
 */
export function dependenciesOf(model: ModelStatic<Model>, attribute: string): readonly string[] {
  const { fields } = (model.getAttributes()[attribute]?.type ?? {}) as { fields?: readonly string[] }
  return Array.isArray(fields) ? fields : []
}

/** Whether the model has a default scope that may exclude records. */
export function hasScope(model: ModelStatic<Model>): boolean {
  const scope = preparationOf(model)._scope ?? {}
  return typeof scope === 'function' || Object.keys(scope).some((option) => option !== 'attributes')
}

/** Whether the model excludes records from reads, by its default scope or by soft delete. */
export function hasHiddenRecords(model: ModelStatic<Model>): boolean {
  return model.options.paranoid === true || hasScope(model)
}

/** Returns the names of the options in the default scope. */
export function scopeOptionsOf(model: ModelStatic<Model>): readonly string[] {
  const scope = preparationOf(model)._scope ?? {}
  return typeof scope === 'function' ? ['a function'] : Object.keys(scope)
}

/** Whether the default scope joins a collection, so that a query has several rows for a record. */
export function includesCollections(model: ModelStatic<Model>): boolean {
  const options: { include: unknown; hasDuplicating?: boolean } = { include: scopeIncludesOf(model) }
  preparationOf(model)._validateIncludedElements(options, {})
  return options.hasDuplicating === true
}

/** Returns the includes of the default scope. As outer joins they exclude no record. */
export function scopeIncludesOf(model: ModelStatic<Model>): readonly IncludeOptions[] {
  return joinsOfScope(model).map((each) => ({ ...each, required: false }))
}

function joinsOfScope(model: ModelStatic<Model>): readonly IncludeOptions[] {
  const preparation = preparationOf(model)
  const include = preparation._scope?.include
  if (include === undefined) return []
  const options: { include: unknown } = Utils.cloneDeep({ include })
  preparation._conformIncludes(options, model)
  preparation._expandIncludeAll(options)
  return Array.isArray(options.include) ? options.include : []
}

/**
 * Returns the includes of the default scope without attributes if they exclude records, otherwise an empty array.
 */
export function excludingIncludesOf(model: ModelStatic<Model>): readonly IncludeOptions[] {
  const include = joinsOfScope(model)
  if (include.length === 0) return include
  const options: { include: unknown; hasRequired?: boolean } = { include: [...include] }
  preparationOf(model)._validateIncludedElements(options, {})
  return options.hasRequired === true ? joinsOfScope(model).map(withoutAttributes) : []
}

function withoutAttributes({ include = [], ...options }: IncludeOptions): IncludeOptions {
  return { ...options, attributes: [], include: (include as IncludeOptions[]).map(withoutAttributes) }
}

/**
 * Returns the include option for the model of a joined table. Sequelize would also join the includes of its default
 * scope, whose collections repeat the rows of the query. Models without such includes need no option, and a statement
 * with this option is not cached.
 */
export function joinedModelOption(model: ModelStatic<Model>): Pick<IncludeOptions, 'model'> {
  return preparationOf(model)._scope?.include === undefined ? {} : { model: model.unscoped() }
}

/** Whether the default scope has more than a condition, so that only `findAll` can apply it. */
export function hasComplexScope(model: ModelStatic<Model>): boolean {
  const scope = preparationOf(model)._scope
  if (scope === undefined) return false
  return (
    typeof scope === 'function' || Object.keys(scope).some((option) => option !== 'where' && option !== 'attributes')
  )
}

/**
 * Returns the columns or attributes of a unique index by its database name. Returns an empty array if the model lacks
 * the index.
 */
export function columnsOfIndex(model: ModelStatic<Model>, name: string): readonly string[] {
  const { _indexes: indexes = [], uniqueKeys, primaryKeys } = preparationOf(model)
  if (name === 'PRIMARY') return Object.keys(primaryKeys)
  const index = indexes.find((each) => each.name === name) ?? uniqueKeys[name]
  return (index?.fields ?? []).flatMap((field, at) => {
    const column = indexColumnsOf(index)[at]
    return column ? [column] : columnsIn(expressionTextOf(field))
  })
}

/** Returns the words of an SQL expression that may be columns: all words except functions and casts. */
export function columnsIn(expression: string): readonly string[] {
  return [
    ...expression.matchAll(/(?<![\p{L}\p{N}_$]|::\s*)[\p{L}_][\p{L}\p{N}_$]*(?![\p{L}\p{N}_$]|["`]?\s*\()/gu),
  ].map(([word]) => word)
}

/** Returns the text of an expression from `fn`, `col`, `cast` or `literal`. */
function expressionTextOf(expression: unknown): string {
  if (typeof expression === 'string') return expression
  const { args, col, val } = Object(expression) as { args?: unknown; col?: unknown; val?: unknown }
  const parts = Array.isArray(args) ? args : [col ?? val].filter((part) => part !== undefined)
  return parts.map(expressionTextOf).join(' ')
}

/** Returns the model's message for a value that is already taken: `unique: { msg }`. */
export function uniqueMessageOf(
  model: ModelStatic<Model>,
  { name, column }: { readonly name: string; readonly column: string },
): string | undefined {
  const found = Object.values(preparationOf(model).uniqueKeys).find((key) => {
    const names = indexColumnsOf(key)
    return Boolean(key?.msg) && (names.includes(column) || names.includes(name))
  })
  return typeof found?.msg === 'string' ? found.msg : undefined
}

function indexColumnsOf(index: Index | undefined): readonly string[] {
  return (index?.fields ?? []).map((field) => {
    return typeof field === 'string' ? field : (field.name ?? field.attribute ?? '')
  })
}

/** Whether two attributes compare exactly in every database: both UUIDs, or both integers of any size. */
export function isExactComparison(
  [one, attribute]: readonly [ModelStatic<Model>, string],
  [other, of]: readonly [ModelStatic<Model>, string],
): boolean {
  const [kind, otherKind] = [exactKindOf(one, attribute), exactKindOf(other, of)]
  return kind !== null && kind === otherKind
}

function exactKindOf(model: ModelStatic<Model>, attribute: string): 'uuid' | 'whole' | null {
  const type: unknown = model.rawAttributes[attribute]?.type
  const key: unknown = typeof type === 'object' && type !== null && 'key' in type ? type.key : null
  if (key === 'UUID') return 'uuid'
  return typeof key === 'string' && /^(?:TINY|SMALL|MEDIUM|BIG)?INT(?:EGER)?$/.test(key) ? 'whole' : null
}

/** Whether the model declares an index that finds rows by an attribute. */
export function isIndexed(model: ModelStatic<Model>, attribute: string): boolean {
  const { _indexes: indexes = [], primaryKeys } = preparationOf(model)
  const whole = indexes.filter(({ where }) => where === undefined).map(indexColumnsOf)
  const column = model.rawAttributes[attribute]?.field
  return [Object.keys(primaryKeys), ...whole].some(([first]) => first === attribute || first === column)
}

/** Returns the columns or attributes that are unique in all rows, grouped by constraint. */
export function uniquesOf(model: ModelStatic<Model>): readonly (readonly string[])[] {
  const { _indexes: indexes = [], uniqueKeys, options } = preparationOf(model)
  const whole = indexes.filter(({ unique, where }) => unique === true && where === undefined)
  return [...Object.values(uniqueKeys), ...Object.values(options.uniqueKeys ?? {}), ...whole].map(indexColumnsOf)
}

/**
 * Returns the attributes of a model. The functions of `getterMethods` and `setterMethods` count as `get` and `set` of
 * their attributes, as in Sequelize.
 */
export function attributesWithAccessors(
  model: ModelStatic<Model>,
): Readonly<Record<string, ModelAttributeColumnOptions>> {
  const attributes = model.getAttributes()
  const { getterMethods, setterMethods } = model.options
  if (getterMethods === undefined && setterMethods === undefined) return attributes
  const accessorsOf = (name: string): Pick<ModelAttributeColumnOptions, 'get' | 'set'> => {
    const [get, set] = [getterMethods?.[name], setterMethods?.[name]]
    return { ...(get === undefined ? {} : { get }), ...(set === undefined ? {} : { set }) }
  }
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [name, { ...accessorsOf(name), ...attribute }]),
  )
}

/** Whether the model has validators across attributes. */
export function hasModelValidators(model: ModelStatic<Model>): boolean {
  return Object.keys(preparationOf(model).options.validate ?? {}).length > 0
}

/** Whether the model, or a class of the host above it, overrides `toJSON`. */
export function hasOwnToJson(model: ModelStatic<Model>): boolean {
  let prototype: object | null = model.prototype
  while (prototype !== null && !Object.hasOwn(prototype, 'toJSON')) prototype = Object.getPrototypeOf(prototype)
  // Sequelize's own `toJSON` is in the root class, for any copy of Sequelize.
  return prototype !== null && Object.getPrototypeOf(prototype) !== Object.prototype
}

/** Returns the name of Sequelize's own version attribute, or null if the model has none. */
export function versionAttributeOf(model: ModelStatic<Model>): string | null {
  return preparationOf(model)._versionAttribute || null
}

/** Returns the names of Sequelize's timestamp attributes. */
export function timestampsOf(model: ModelStatic<Model>): {
  createdAt?: string
  updatedAt?: string
  deletedAt?: string
} {
  return preparationOf(model)._timestampAttributes
}

/** Attribute names that connect the tables of an association of any kind. */
export interface AssociationKeys {
  readonly foreignKey: string
  readonly sourceKey: string
  readonly targetKey: string
  readonly otherKey: string
  /** Fixed attributes of the target, such as the type column of a polymorphic association. At most one item. */
  readonly scope: readonly WhereFragment[]
  /**
   * Condition under which the polymorphic foreign key of a belongsTo applies: a value of the type column. The value
   * comes from the opposite association. At most one item.
   */
  readonly sourceScope: readonly WhereFragment[]
  /** Join model of a belongs-to-many, with its fixed attributes. */
  readonly through: { readonly model: ModelStatic<Model>; readonly scope: readonly WhereFragment[] } | null
}

/** Whether the source has the foreign key. */
export function hasSourceForeignKey(association: Association): boolean {
  return association.associationType === 'BelongsTo'
}

/** Whether an attribute is a foreign key, by its definition or an association. */
export function isForeignKey(model: ModelStatic<Model>, attribute: string): boolean {
  if (model.getAttributes()[attribute]?.references !== undefined) return true
  const all = Object.values(sequelizeOf(model).models).flatMap((each) => Object.values(each.associations))
  return all.some((association) => {
    const keyModel = hasSourceForeignKey(association) ? association.source : association.target
    const isOwn = association.associationType !== 'BelongsToMany' && definedModel(keyModel) === definedModel(model)
    return isOwn && association.foreignKey === attribute
  })
}

/** Returns Sequelize's hasOne from the target of a many-to-many to its join model, or null for other associations. */
export function joinRowAssociationOf(association: Association): Association | null {
  const { oneFromTarget } = association as object as { oneFromTarget?: Association }
  return oneFromTarget ?? null
}

export function associationKeysOf(association: Association): AssociationKeys {
  const keys = association as object as {
    foreignKey: string
    sourceKey?: string
    targetKey?: string
    otherKey?: string
    scope?: WhereFragment
    through?: { model?: ModelStatic<Model> }
  }
  const through = keys.through?.model
  return {
    foreignKey: keys.foreignKey,
    sourceKey: keys.sourceKey ?? association.source.primaryKeyAttribute,
    targetKey: keys.targetKey ?? association.target.primaryKeyAttribute,
    otherKey: keys.otherKey ?? '',
    scope: keys.scope ? [keys.scope] : [],
    sourceScope: hasSourceForeignKey(association) ? oppositeScopeOf(association) : [],
    through: through === undefined ? null : { model: through, scope: throughScopeOf(association) },
  }
}

const SEEKABLE: ReadonlySet<unknown> = new Set(['INTEGER', 'BIGINT', 'SMALLINT', 'MEDIUMINT', 'TINYINT', 'UUID'])

/**
 * Whether `IN` finds the same keys as `=` in every database. Texts are excluded, because `IN` may use the collation of
 * either side.
 */
export function isSeekable(model: ModelStatic<Model>, attribute: string): boolean {
  const type: unknown = model.getAttributes()[attribute]?.type
  return typeof type === 'object' && type !== null && 'key' in type && SEEKABLE.has(type.key)
}

/**
 * Returns the attributes of the target that an association fixes, by name, such as the type of a polymorphic
 * association. Returns an empty map for other associations.
 * @throws TypeError for a fixed value that records cannot have
 */
export function fixedTargetValuesOf(association: Association): ReadonlyMap<string, PlainScopeValue> {
  const { scope } = association as object as { scope?: object }
  return scopeValuesOf(scope, association)
}

/**
 * Returns the fixed attributes of a belongs-to-many's join model, by name.
 * @throws TypeError for a fixed value that rows cannot have
 */
export function fixedJoinValuesOf(association: Association): ReadonlyMap<string, PlainScopeValue> {
  return scopeValuesOf(throughScopeOf(association)[0], association)
}

function scopeValuesOf(scope: object | undefined, association: Association): ReadonlyMap<string, PlainScopeValue> {
  return new Map(
    Reflect.ownKeys(scope ?? {}).map((name) => {
      const value: unknown = Reflect.get(scope ?? {}, name)
      if (typeof name === 'string' && isPlainScopeValue(value)) return [name, value]
      throw new TypeError(
        `the scope of the association "${association.as}" must contain only texts, numbers, booleans and null, so that new records can have its values`,
      )
    }),
  )
}

type PlainScopeValue = string | number | boolean | null

function isPlainScopeValue(value: unknown): value is PlainScopeValue {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

/**
 * Returns the originally defined model. `Model.scope()` and `Model.schema()` create subclasses of this model without
 * attributes.
 */
export function definedModel(model: ModelStatic<Model>): ModelStatic<Model> {
  const parent: unknown = Object.getPrototypeOf(model)
  if (Object.hasOwn(model, 'rawAttributes') || typeof parent !== 'function') return model
  return definedModel(parent as ModelStatic<Model>)
}

/** Returns the attributes that the model's default scope excludes from every read. */
export function attributesExcludedByScope(model: ModelStatic<Model>): ReadonlySet<string> {
  const attributes = preparationOf(model)._scope?.attributes
  const all = Object.keys(model.getAttributes())
  if (Array.isArray(attributes)) return new Set(all.filter((name) => !attributes.includes(name)))
  const { exclude } = (attributes ?? {}) as { exclude?: readonly string[] }
  return new Set(exclude ?? [])
}

/**
 * Completes the definition of an attribute: makes its type an instance, and sets its column name by the model's rules.
 */
export function completeAttribute(
  model: ModelStatic<Model>,
  name: string,
  definition: ModelAttributeColumnOptions,
): ModelAttributeColumnOptions {
  const { underscored = false } = model.options
  const sequelize = sequelizeOf(model) as object as {
    normalizeDataType(type: unknown): ModelAttributeColumnOptions['type']
  }
  return {
    ...definition,
    type: sequelize.normalizeDataType(definition.type),
    field: Utils.underscoredIf(name, underscored),
  }
}

/** Adds attributes to a model after its definition. */
export function addToModel(
  model: ModelStatic<Model>,
  attributes: Readonly<Record<string, ModelAttributeColumnOptions>>,
): void {
  const { rawAttributes, refreshAttributes } = model as object as {
    rawAttributes: { [attribute: string]: ModelAttributeColumnOptions }
    refreshAttributes(): void
  }
  // Definitions are copied, because Sequelize modifies definitions.
  for (const [name, definition] of Object.entries(attributes)) rawAttributes[name] = { ...definition }
  refreshAttributes.call(model)
}

/** Whether a unique index covers only some of the records, or an expression. */
export function hasPartialUnique(model: ModelStatic<Model>): boolean {
  const { _indexes: indexes = [] } = preparationOf(model)
  return indexes.some(({ unique, where, fields = [] }) => {
    return unique === true && (where !== undefined || fields.some((field) => !isColumn(field)))
  })
}

/** Whether a part of an index is a column instead of an expression. */
function isColumn(field: unknown): boolean {
  if (typeof field === 'string') return true
  const { name, attribute }: { readonly name?: unknown; readonly attribute?: unknown } = Object(field)
  return typeof (name ?? attribute) === 'string'
}
