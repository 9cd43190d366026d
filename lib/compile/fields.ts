import type { Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import type { Dialect } from '../../types/dialect.js'
import type { Field, Target, ValueType } from '../../types/field.js'
import type { CrudOptions, FieldOptions } from '../../types/options.js'
import { decoderOf } from '../codec/codecs.js'
import { CrudConfigError } from '../common/errors.js'
import { FIRST_VERSION } from '../common/version.js'
import { deprecationOf } from '../config/deprecated.js'
import type { ConfigProblems } from '../config/problems.js'
import { unknownName } from '../config/suggest.js'
import { operatorsOf } from '../language/operators.js'
import { hiddenByScope, isForeignKey } from '../sequelize/model.js'
import type { ModelAttributes } from './attributes.js'
import { derivable } from './derived.js'
import { columnItemOf, membersOf } from './members.js'
import { rulesOf } from './modelRules.js'
import { NAME } from './names.js'
import type { Naming } from './naming.js'
import { assertMeetable } from './ruleBounds.js'
import { itemTypeOf, valueTypeOf } from './valueType.js'

const ALL: readonly Target[] = ['create', 'update', 'query', 'response', 'list']
const READ: readonly Target[] = ['query', 'response', 'list']

/** Pass: options name existing attributes. Adds unknown names to `problems`. */
export function checkFieldNames(
  model: ModelStatic<Model>,
  options: CrudOptions,
  { all }: ModelAttributes,
  problems: ConfigProblems,
): void {
  const names = [...Object.keys(all), ...Object.keys(options.computed ?? {})]
  for (const name of Object.keys(options.fields ?? {})) {
    if (names.includes(name)) continue
    problems.add(unknownName('UNKNOWN_ATTRIBUTE', `${model.name}: fields: the attribute`, name, names))
  }
}

/** Called when a stored value of an attribute cannot be shown. */
type OnHidden = (name: string, valueType: ValueType) => void

/** A model with the options, names and dialect for its fields. */
interface Named {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly keys: readonly string[]
  readonly attributes: ModelAttributes
  readonly naming: Naming
  readonly dialect: Dialect
  readonly onHidden?: OnHidden
}

/** Pass: every attribute as a field. @throws CrudConfigError for two attributes with the same JSON name */
export function fieldsOf({
  model,
  options,
  keys,
  attributes: { all: attributes, maintained, added, shown, versions },
  naming,
  dialect,
  onHidden = () => undefined,
}: Named): readonly Field[] {
  const given = (options.fields ?? {}) as Readonly<Record<string, FieldOptions | undefined>>
  const [identity, ...others] = model.primaryKeyAttributes
  const hidden = hiddenByScope(model)
  const fields = Object.entries(attributes).map(([name, attribute]) =>
    fieldOf(
      { name, json: naming.field(name) },
      attribute,
      given[name] ?? {},
      {
        isKey: keys.includes(name),
        isIdentity: keys.includes(name) || (name === identity && others.length === 0),
        isPart: model.primaryKeyAttributes.includes(name),
        isForeignPart: keys.length > 1 && keys.includes(name) && isForeignKey(model, name),
        isMaintained: maintained.has(name),
        isAdded: added.has(name) && !shown.has(name),
        isVersion: shown.has(name),
        isHidden: hidden.has(name),
      },
      dialect,
      model.name,
      onHidden,
    ),
  )
  assertDistinct(model, fields, naming, versions)
  return Object.freeze(fields)
}

interface Role {
  readonly isKey: boolean
  /** An attribute of the option's key or of the primary key. Clients cannot change it in an update. */
  readonly isIdentity: boolean
  /** An attribute of the primary key, which Sequelize's instances never change. */
  readonly isPart: boolean
  /** A part of a composite key that is a foreign key. Its default applies only to bodies that omit it. */
  readonly isForeignPart: boolean
  /** Managed by a behaviour or by Sequelize. */
  readonly isMaintained: boolean
  /** Added to the model by a behaviour. */
  readonly isAdded: boolean
  readonly isHidden: boolean
  /** A version that responses show. A row without a version has the first one. */
  readonly isVersion: boolean
}

function fieldOf(
  { name, json }: Pick<Field, 'name' | 'json'>,
  attribute: ModelAttributeColumnOptions,
  options: FieldOptions,
  role: Role,
  dialect: Dialect,
  model: string,
  onHidden: OnHidden,
): Field {
  const { decimal, members } = options
  const deprecated = deprecationOf(`${model}: fields.${name}.deprecated`, options.deprecated)
  const valueType = columnTypeOf(attribute, decimal, dialect)
  const virtual = isVirtual(attribute)
  const getter = typeof attribute.get === 'function'
  const targets = targetsOf(attribute, options, role, virtual)
  // A getter's result comes from host code, so it is not a driver's JSON text.
  const jsonAsText = dialect.jsonAsText && valueType.document === true && !getter && !virtual
  const decode = decoderOf(valueType, { jsonAsText, onHidden: () => onHidden(name, valueType) })
  const { sorted, ...queried } = queriedBy(
    options,
    role,
    targets,
    virtual ? new Set<never>() : operatorsOf(valueType.type),
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
    // A key is never null, even if its column is nullable: nobody could address the record.
    rules: rulesOf(role.isKey ? { ...attribute, primaryKey: true } : attribute, valueType, options.rules ?? {}),
    decode: decodeAs(role, { model, name, valueType, decode }),
  }
  // A schema of the host replaces the rules.
  if (options.schema === undefined && isWritten(targets)) assertMeetable(`${model}.${name}`, described)
  const itemType = dialect.hasArrays && !virtual && !getter ? valueType.arrays?.[0]?.item : undefined
  if (itemType !== undefined) return derivable({ ...described, item: columnItemOf(described, itemType) })
  if (members === undefined) return derivable(described)
  const where = `${model}: fields.${name}: members`
  const { filterable } = queried
  const openness = { filterable, sortable: sorted, jsonAsText: dialect.jsonAsText }
  const { members: own, item, arrays } = membersOf(where, described, members, openness)
  const typed = arrays.length === 0 ? described : { ...described, valueType: Object.freeze({ ...valueType, arrays }) }
  return derivable({ ...typed, members: own, ...(item === null ? {} : { item }) })
}

/** The value type of an attribute's column in this dialect; for an array column with the type of its items. */
function columnTypeOf(
  attribute: ModelAttributeColumnOptions,
  decimal: FieldOptions['decimal'],
  dialect: Dialect,
): ValueType {
  const type = dialect.column(valueTypeOf(attribute, { decimal }))
  const item = itemTypeOf(attribute)
  if (item === null) return Object.freeze(type)
  return Object.freeze({ ...type, arrays: [{ path: [], item: dialect.column(item), takesNull: true }] })
}

/**
 * The filter operators of a field, and whether requests may filter and sort by it. `sorted` applies to the members of a
 * JSON field.
 */
function queriedBy(
  options: FieldOptions,
  { isKey }: Role,
  targets: ReadonlySet<Target>,
  operators: Field['operators'],
): Pick<Field, 'operators' | 'filterable' | 'sortable'> & { readonly sorted: boolean } {
  const isQueried = targets.has('query')
  const sorted = options.sortable ?? (isQueried || (isKey && targets.has('response')))
  // A field whose type has no operators stays filterable, because the error about the operator is more helpful than an
  // unknown field.
  return { operators, filterable: options.filterable ?? isQueried, sortable: operators.size > 0 && sorted, sorted }
}

function isNullable({ allowNull, primaryKey }: ModelAttributeColumnOptions): boolean {
  return allowNull !== false && primaryKey !== true
}

function isWritten(targets: ReadonlySet<Target>): boolean {
  return targets.has('create') || targets.has('update')
}

type Decoded = Pick<Field, 'name' | 'valueType' | 'decode'> & { readonly model: string }

/**
 * A null version becomes the first. An INTEGER key beyond 2^53 is reported once, because documents declare a number and
 * responses have text.
 */
function decodeAs({ isVersion, isKey }: Role, { model, name, valueType, decode }: Decoded): Field['decode'] {
  if (isVersion) return (raw) => decode(raw ?? FIRST_VERSION)
  if (!isKey || valueType.type !== 'integer') return decode
  let isWarned = false
  return (raw) => {
    const value = decode(raw)
    if (isWarned || typeof value !== 'string' || !/^-?\d+$/.test(value)) return value
    isWarned = true
    process.emitWarning(
      `${model}: ${name} is an INTEGER, and has a key beyond 2^53 in its column. Such keys are text in answers, which documents and client ` +
        'types call integers. Declare it as DataTypes.BIGINT, and the foreign keys that refer to it.',
      { code: 'CRUD_WIDE_KEY' },
    )
    return value
  }
}

function isVirtual(attribute: ModelAttributeColumnOptions): boolean {
  return (attribute.type as { key?: string }).key === 'VIRTUAL'
}

function targetsOf(
  attribute: ModelAttributeColumnOptions,
  { exclude, only }: FieldOptions,
  role: Role,
  virtual: boolean,
): ReadonlySet<Target> {
  const targets = new Set<Target>(only === undefined ? ALL : listOf(only))
  const excluded = exclude === true ? ALL : listOf(exclude ?? [])
  // List items can only omit fields of the response, not add any.
  const without = excluded.includes('response') ? [...excluded, 'list' as const] : excluded
  for (const target of [...without, ...impossible(attribute, role, virtual)]) targets.delete(target)
  // A field that no response shows is not filterable.
  if (!targets.has('response') && !targets.has('list')) targets.delete('query')
  // A generated key is filterable only by option.
  const isChosen = attribute.autoIncrement !== true && attribute.defaultValue === undefined
  if (role.isKey && !isChosen) targets.delete('query')
  return targets
}

/** The targets that an attribute cannot have, regardless of the options. */
function impossible(attribute: ModelAttributeColumnOptions, role: Role, virtual: boolean): readonly Target[] {
  const hasAssigned = role.isIdentity && !role.isForeignPart && attribute.defaultValue !== undefined
  const isAssigned = attribute.autoIncrement === true || hasAssigned
  const isFixed = role.isIdentity || role.isPart
  const writes: Target[] = role.isMaintained || isAssigned ? ['create', 'update'] : isFixed ? ['update'] : []
  if (role.isAdded) return ALL
  const reads = role.isHidden ? READ : []
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

function listOf(targets: Target | readonly Target[]): readonly Target[] {
  return typeof targets === 'string' ? [targets] : targets
}

/** The fields with a JSON name. A field excluded from every shape frees its name. */
export function namedOf(fields: readonly Field[]): readonly Field[] {
  return fields.filter(
    ({ targets, isKey, filterable, sortable }) => targets.size > 0 || isKey || filterable || sortable,
  )
}

/** Warns once of fields whose names cannot be written in filters, sorts and selections. */
export function warnOfNames(model: string, fields: readonly Field[]): void {
  const names = fields.filter((field) => field.filterable || field.sortable).map(({ json }) => json)
  for (const name of names.filter((each) => !NAME.test(each))) {
    process.emitWarning(
      `${model}: the query language cannot name "${name}", so that no filter, sort or selection reaches it. Names begin with a letter ` +
        `or "_" and go on with letters, digits and "_". Rename the attribute and give it \`field: '${name}'\`, or exclude it from queries in fields.`,
      { code: 'CRUD_UNNAMEABLE_FIELD' },
    )
  }
}

/** Names are case-insensitive, so two that differ only in case would hide each other. */
function assertDistinct(
  model: ModelStatic<Model>,
  fields: readonly Field[],
  naming: Naming,
  versions: ReadonlySet<string>,
): void {
  const seen = new Map<string, Field>()
  for (const field of new Set([...namedOf(fields), ...fields.filter(({ name }) => versions.has(name))])) {
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
