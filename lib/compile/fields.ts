import type { Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import type { Dialect } from '../../types/dialect.js'
import type { Field, Target, ValueType } from '../../types/field.js'
import type { CrudOptions, FieldOptions } from '../../types/options.js'
import { codecOf, createDecoder } from '../codec/codecs.js'
import { CrudConfigError } from '../common/errors.js'
import { NAME } from '../common/normalizedName.js'
import { FIRST_VERSION } from '../common/version.js'
import { readDeprecation } from '../config/deprecated.js'
import type { ConfigProblems } from '../config/problems.js'
import { createUnknownNameError } from '../config/suggest.js'
import { operatorsForType } from '../language/operators.js'
import { attributesExcludedByScope, isForeignKey } from '../sequelize/model.js'
import type { ModelAttributes } from './attributes.js'
import { addDerivations } from './derived.js'
import { createColumnItem, createMembers } from './members.js'
import { createRules } from './modelRules.js'
import type { Naming } from './naming.js'
import { arrayTypeOf, isVirtual, valueTypeOf } from './valueType.js'

const ALL: readonly Target[] = ['create', 'update', 'query', 'response', 'list']
const READ: readonly Target[] = ['query', 'response', 'list']

/** Checks that options name existing attributes. Adds unknown names to `problems`. */
export function checkFieldNames(
  model: ModelStatic<Model>,
  options: CrudOptions,
  { all }: ModelAttributes,
  problems: ConfigProblems,
): void {
  const names = [...Object.keys(all), ...Object.keys(options.computed ?? {})]
  for (const name of Object.keys(options.fields ?? {})) {
    if (names.includes(name)) continue
    problems.add(createUnknownNameError('UNKNOWN_ATTRIBUTE', `${model.name}: fields: the attribute`, name, names))
  }
}

/** Called when a stored value of an attribute cannot be shown. */
type OnUndecodable = (name: string, valueType: ValueType) => void

/** A model with the options, names and dialect for its fields. */
interface FieldSource {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly keys: readonly string[]
  readonly attributes: ModelAttributes
  readonly naming: Naming
  readonly dialect: Dialect
  readonly onUndecodable?: OnUndecodable
}

/** Compiles every attribute as a field. @throws CrudConfigError for two attributes with the same JSON name */
export function createFields({
  model,
  options,
  keys,
  attributes: { all: attributes, serverManaged, added, shown, versions },
  naming,
  dialect,
  onUndecodable = () => undefined,
}: FieldSource): readonly Field[] {
  const given = (options.fields ?? {}) as Readonly<Record<string, FieldOptions | undefined>>
  const [identity, ...others] = model.primaryKeyAttributes
  const hidden = attributesExcludedByScope(model)
  const fields = Object.entries(attributes).map(([name, attribute]) =>
    createField(
      { name, json: naming.field(name) },
      attribute,
      given[name] ?? {},
      {
        isKey: keys.includes(name),
        isIdentity: keys.includes(name) || (name === identity && others.length === 0),
        isPrimaryKeyPart: model.primaryKeyAttributes.includes(name),
        isForeignKeyPart: keys.length > 1 && keys.includes(name) && isForeignKey(model, name),
        isServerManaged: serverManaged.has(name),
        isAdded: added.has(name) && !shown.has(name),
        isVersion: shown.has(name),
        isExcludedByScope: hidden.has(name),
      },
      dialect,
      model.name,
      onUndecodable,
    ),
  )
  assertDistinctNames(model, fields, naming, versions)
  return Object.freeze(fields)
}

interface AttributeRole {
  readonly isKey: boolean
  /** An attribute of the option's key or of the primary key. Clients cannot change it in an update. */
  readonly isIdentity: boolean
  /** An attribute of the primary key, which Sequelize's instances never change. */
  readonly isPrimaryKeyPart: boolean
  /** A part of a composite key that is also a foreign key. Its default applies only to bodies that omit the part. */
  readonly isForeignKeyPart: boolean
  /** An attribute that a behaviour or Sequelize sets. */
  readonly isServerManaged: boolean
  /** An attribute that a behaviour added to the model. */
  readonly isAdded: boolean
  readonly isExcludedByScope: boolean
  /** A version attribute that responses show. A row without a version counts as the first version. */
  readonly isVersion: boolean
}

function createField(
  { name, json }: Pick<Field, 'name' | 'json'>,
  attribute: ModelAttributeColumnOptions,
  options: FieldOptions,
  role: AttributeRole,
  dialect: Dialect,
  model: string,
  onHidden: OnUndecodable,
): Field {
  const { decimal, members } = options
  const deprecated = readDeprecation(`${model}: fields.${name}.deprecated`, options.deprecated)
  const valueType = columnTypeOf(attribute, decimal, dialect)
  const virtual = isVirtual(attribute)
  const getter = typeof attribute.get === 'function'
  const targets = targetsOf(attribute, options, role, virtual)
  // A getter's result comes from host code, so it is not a driver's JSON text.
  const jsonAsText = dialect.jsonAsText && valueType.document === true && !getter && !virtual
  const decode = createDecoder(valueType, { jsonAsText, onUndecodable: () => onHidden(name, valueType) })
  const { sorted, ...queried } = queryAbilitiesOf(
    options,
    role,
    targets,
    virtual ? new Set<never>() : operatorsForType(valueType.type),
  )
  const described: Omit<Field, 'derive' | 'derived'> = {
    name,
    json,
    column: attribute.field ?? name,
    valueType,
    nullable: isNullable(attribute) && !role.isKey,
    virtual,
    getter,
    isKey: role.isKey,
    assigned: attribute.autoIncrement === true,
    targets,
    ...(deprecated === null ? {} : { deprecated }),
    ...queried,
    // A key is never null, even if its column is nullable, because a record with a null key could not be addressed.
    rules: createRules(role.isKey ? { ...attribute, primaryKey: true } : attribute, valueType, options.rules ?? {}),
    decode: createFieldDecoder(role, { model, name, valueType, decode }),
  }
  // A schema of the host replaces the rules.
  if (options.schema === undefined && isWritten(targets)) assertCompatibleBounds(`${model}.${name}`, described)
  const array = dialect.hasArrays && !virtual && !getter ? valueType.arrays?.[0] : undefined
  if (array?.dimensions === 1) return addDerivations({ ...described, item: createColumnItem(described, array.item) })
  if (members === undefined) return addDerivations(described)
  const where = `${model}: fields.${name}: members`
  const { filterable } = queried
  const openness = { filterable, sortable: sorted, jsonAsText: dialect.jsonAsText }
  const { members: own, item, arrays } = createMembers(where, described, members, openness)
  const typed = arrays.length === 0 ? described : { ...described, valueType: Object.freeze({ ...valueType, arrays }) }
  return addDerivations({ ...typed, members: own, ...(item === null ? {} : { item }) })
}

/**
 * Returns the value type of an attribute's column in this dialect. The type of an array column includes the type of its
 * items.
 */
function columnTypeOf(
  attribute: ModelAttributeColumnOptions,
  decimal: FieldOptions['decimal'],
  dialect: Dialect,
): ValueType {
  const type = dialect.columnType(valueTypeOf(attribute, { decimal }))
  const array = arrayTypeOf(attribute)
  if (array === null) return Object.freeze(type)
  return Object.freeze({ ...type, arrays: [{ ...array, item: dialect.columnType(array.item) }] })
}

/**
 * Returns the filter operators of a field, and whether requests may filter and sort by it. `sorted` says whether
 * requests may sort by the members of a JSON field.
 */
function queryAbilitiesOf(
  options: FieldOptions,
  { isKey }: AttributeRole,
  targets: ReadonlySet<Target>,
  operators: Field['operators'],
): Pick<Field, 'operators' | 'filterable' | 'sortable'> & { readonly sorted: boolean } {
  const isQueried = targets.has('query')
  const sorted = options.sortable ?? (isQueried || (isKey && targets.has('response')))
  // A field whose type has no operators stays filterable: an error about the operator is more helpful than one about an
  // unknown field.
  return { operators, filterable: options.filterable ?? isQueried, sortable: operators.size > 0 && sorted, sorted }
}

function isNullable({ allowNull, primaryKey }: ModelAttributeColumnOptions): boolean {
  return allowNull !== false && primaryKey !== true
}

function isWritten(targets: ReadonlySet<Target>): boolean {
  return targets.has('create') || targets.has('update')
}

type DecodedField = Pick<Field, 'name' | 'valueType' | 'decode'> & { readonly model: string }

/**
 * Returns the decoder of a field. A null version becomes the first version. An INTEGER key beyond 2^53 is reported
 * once, because documents declare a number and responses have text.
 */
function createFieldDecoder(
  { isVersion, isKey }: AttributeRole,
  { model, name, valueType, decode }: DecodedField,
): Field['decode'] {
  if (isVersion) return (raw) => decode(raw ?? FIRST_VERSION)
  if (!isKey || valueType.type !== 'integer') return decode
  let isWarned = false
  return (raw) => {
    const value = decode(raw)
    if (isWarned || typeof value !== 'string' || !/^-?\d+$/.test(value)) return value
    isWarned = true
    process.emitWarning(
      `${model}: the column of the key "${name}" contains a number beyond 2^53, but the model declares an INTEGER. Responses have such keys as strings, although API documents and client ` +
        'types say integer. Declare the key, and the foreign keys that refer to it, as DataTypes.BIGINT.',
      { code: 'CRUD_WIDE_KEY' },
    )
    return value
  }
}

function targetsOf(
  attribute: ModelAttributeColumnOptions,
  { exclude, only }: FieldOptions,
  role: AttributeRole,
  virtual: boolean,
): ReadonlySet<Target> {
  const targets = new Set<Target>(only === undefined ? ALL : toArray(only))
  const excluded = exclude === true ? ALL : toArray(exclude ?? [])
  // List items can only omit fields of the response, not add any.
  const without = excluded.includes('response') ? [...excluded, 'list' as const] : excluded
  for (const target of [...without, ...impossibleTargetsOf(attribute, role, virtual)]) targets.delete(target)
  // A field that no response shows is not filterable.
  if (!targets.has('response') && !targets.has('list')) targets.delete('query')
  // A generated key is filterable only by option.
  const isChosen = attribute.autoIncrement !== true && attribute.defaultValue === undefined
  if (role.isKey && !isChosen) targets.delete('query')
  return targets
}

/** The targets that an attribute cannot have, regardless of the options. */
function impossibleTargetsOf(
  attribute: ModelAttributeColumnOptions,
  role: AttributeRole,
  virtual: boolean,
): readonly Target[] {
  const hasAssigned = role.isIdentity && !role.isForeignKeyPart && attribute.defaultValue !== undefined
  const isAssigned = attribute.autoIncrement === true || hasAssigned
  const isFixed = role.isIdentity || role.isPrimaryKeyPart
  const writes: Target[] = role.isServerManaged || isAssigned ? ['create', 'update'] : isFixed ? ['update'] : []
  if (role.isAdded) return ALL
  const reads = role.isExcludedByScope ? READ : []
  if (!virtual) return [...writes, ...reads]
  // Without a setter a virtual value only reaches the host's hooks and validators. Without a getter it has no value to
  // show.
  const hasGetter = typeof attribute.get === 'function'
  const hasSetter = typeof attribute.set === 'function'
  return [
    ...writes,
    ...reads,
    'query',
    ...(hasGetter && !hasSetter ? (['create', 'update'] as const) : []),
    ...(hasGetter ? [] : (['response', 'list'] as const)),
  ]
}

function toArray(targets: Target | readonly Target[]): readonly Target[] {
  return typeof targets === 'string' ? [targets] : targets
}

/** Returns the fields that occupy a JSON name. A field that is excluded everywhere does not occupy its name. */
export function fieldsWithNameOf(fields: readonly Field[]): readonly Field[] {
  return fields.filter(
    ({ targets, isKey, filterable, sortable }) => targets.size > 0 || isKey || filterable || sortable,
  )
}

/** Warns of fields whose names cannot be written in filters, sorts and selections. */
export function warnOfNames(model: string, fields: readonly Field[]): void {
  const names = fields.filter((field) => field.filterable || field.sortable).map(({ json }) => json)
  for (const name of names.filter((each) => !NAME.test(each))) {
    process.emitWarning(
      `${model}: clients cannot filter, sort or select by the attribute "${name}", because of its name. Names in queries begin with a letter ` +
        `or "_" and contain only letters, digits and "_". Rename the attribute and give it \`field: '${name}'\`, or exclude it from queries by the option fields.`,
      { code: 'CRUD_UNNAMEABLE_FIELD' },
    )
  }
}

/**
 * Checks that JSON names are unique. Names that differ only in case would hide each other, because lookups ignore case.
 */
function assertDistinctNames(
  model: ModelStatic<Model>,
  fields: readonly Field[],
  naming: Naming,
  versions: ReadonlySet<string>,
): void {
  const seen = new Map<string, Field>()
  for (const field of new Set([...fieldsWithNameOf(fields), ...fields.filter(({ name }) => versions.has(name))])) {
    const other = seen.get(field.json.toLowerCase())
    if (other !== undefined) {
      const names = `"${other.name}" and "${field.name}"`
      throw new CrudConfigError(
        'AMBIGUOUS_NAME',
        `${model.name}: the attributes ${names} are both "${field.json}" in responses. Give two associations over one column the same foreignKey, or exclude one of the two in fields.`,
      )
    }
    seen.set(field.json.toLowerCase(), field)
  }
  for (const alias of Object.keys(model.associations)) {
    const field = seen.get(naming.relation(alias).toLowerCase())
    if (field === undefined) continue
    throw new CrudConfigError(
      'AMBIGUOUS_NAME',
      `${model.name}: the attribute "${field.name}" and the association "${alias}" are both "${field.json}" in responses. Give the association another name, or exclude the attribute in fields.`,
    )
  }
}

/** Checks that a value can satisfy both the rules and the column. @throws CrudConfigError for contradicting bounds */
function assertCompatibleBounds(where: string, field: Pick<Field, 'valueType' | 'rules'>): void {
  const range = codecOf(field.valueType).findBoundsConflict?.(field)
  if (range === undefined || range === null) return
  const [unit, column] = [field.valueType.type === 'string' ? ' characters' : '', nounOf(field.valueType)]
  throw new CrudConfigError(
    'RULE_BOUNDS',
    `${where}: no ${column} can be at least ${range.min} and at most ${range.max}${unit}. Check the option rules, and "validate" and "type" of the attribute.`,
  )
}

function nounOf({ type }: ValueType): string {
  return type === 'string' ? 'text' : 'number'
}
