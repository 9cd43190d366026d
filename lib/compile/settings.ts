import { DataTypes, type Model, type ModelAttributeColumnOptions, type ModelStatic } from 'sequelize'
import type { FieldType } from '../../types/field.js'
import type { Policy, PolicyRef } from '../../types/identity.js'
import type { CrudOptions } from '../../types/options.js'
import type { OperationName } from '../../types/resource.js'
import type { AuditStamps, BehaviourSettings, DeletedMark, Mask, Policies } from '../behaviour/index.js'
import { CrudConfigError } from '../errors.js'
import { addAttribute, timestampsOf } from '../perform/sequelize.js'
import { authenticated } from '../policies.js'
import { unknownName } from './suggest.js'
import { valueTypeOf } from './valueType.js'

/** Attributes that behaviours write by themselves. */
export interface MaintainedAttributes {
  /** All of them: they are in no body. */
  readonly maintained: ReadonlySet<string>
  /** Those that the model did not declare: they are in no shape at all. */
  readonly added: ReadonlySet<string>
}

// A second router over the same model must not take an attribute for declared because the first one added it.
const addedTo = new WeakMap<ModelStatic<Model>, Set<string>>()

/** The attributes that behaviours added to a model. */
export function addedAttributes(model: ModelStatic<Model>): ReadonlySet<string> {
  return addedTo.get(model) ?? new Set()
}

/**
 * Pass: what the options say of the optional behaviours, by attribute names that exist. Attributes that the model
 * lacks are added to it here, so that `sync` and the types know them.
 *
 * @throws CrudConfigError for names that are taken by other types, unknown policies and masks on missing attributes
 */
export function settingsOf(
  model: ModelStatic<Model>,
  options: CrudOptions,
  push: BehaviourSettings['push'],
): { settings: BehaviourSettings; attributes: MaintainedAttributes } {
  const deletedMark = deletedMarkOf(model, options)
  const version = versionOf(model, options)
  const stamps = stampsOf(model, options)
  const marks = deletedMark === null ? [] : [deletedMark.isDeleted, deletedMark.deletedAt]
  const names = [...marks, version, ...Object.values(stamps ?? {})].filter((name) => name !== null)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    throw new CrudConfigError(
      'AMBIGUOUS_NAME',
      `${model.name}: two behaviours want the attribute "${twice}" for themselves.`,
    )
  }
  return {
    settings: {
      policies: policiesOf(model.name, options),
      scope: options.scope ?? null,
      deletedMark,
      version,
      stamps,
      masks: masksOf(model, options),
      hooks: options.hooks ?? null,
      push,
    },
    attributes: {
      maintained: new Set([...names, ...Object.values(timestampsOf(model))]),
      added: addedAttributes(model),
    },
  }
}

function deletedMarkOf(model: ModelStatic<Model>, { softDelete }: CrudOptions): DeletedMark | null {
  const own = timestampsOf(model).deletedAt
  if (model.options.paranoid === true && own !== undefined) {
    if (softDelete !== false) return { isDeleted: null, deletedAt: own }
    throw new CrudConfigError('INVALID_OPTION', `${model.name}: softDelete is false, but the model is paranoid.`)
  }
  if (softDelete === undefined || softDelete === false) return null
  const names = softDelete === true ? {} : softDelete
  return {
    isDeleted: ensure(model, names.isDeleted ?? 'isDeleted', ['boolean'], {
      type: DataTypes.BOOLEAN,
      allowNull: false,
      defaultValue: false,
    }),
    deletedAt: ensure(model, names.deletedAt ?? 'deletedAt', ['datetime'], { type: DataTypes.DATE(3) }),
  }
}

function versionOf(model: ModelStatic<Model>, { concurrency }: CrudOptions): string | null {
  if (concurrency === undefined || concurrency === false) return null
  const name = (concurrency === true ? undefined : concurrency.rowVersion) ?? 'rowVersion'
  const definition = { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 }
  return ensure(model, name, ['bigint', 'integer'], definition)
}

function stampsOf(model: ModelStatic<Model>, { audit }: CrudOptions): AuditStamps | null {
  if (audit === undefined || audit === false) return null
  const names = audit === true ? {} : audit
  const own = timestampsOf(model)
  const date = { type: DataTypes.DATE(3) }
  const text = { type: DataTypes.STRING }
  return {
    createdAt: ensure(model, names.createdAt ?? own.createdAt ?? 'createdAt', ['datetime'], date),
    updatedAt: ensure(model, names.updatedAt ?? own.updatedAt ?? 'updatedAt', ['datetime'], date),
    createdBy: ensure(model, names.createdBy ?? 'createdBy', ['string'], text),
    updatedBy: ensure(model, names.updatedBy ?? 'updatedBy', ['string'], text),
  }
}

/** The attribute of that name, added where the model lacks it. */
function ensure(
  model: ModelStatic<Model>,
  name: string,
  types: readonly FieldType[],
  definition: ModelAttributeColumnOptions,
): string {
  const attribute = model.getAttributes()[name]
  if (attribute === undefined) {
    addAttribute(model, name, definition)
    addedTo.set(model, (addedTo.get(model) ?? new Set()).add(name))
    return name
  }
  const { type } = valueTypeOf(attribute)
  if (types.includes(type)) return name
  throw new CrudConfigError(
    'INVALID_ATTRIBUTE',
    `${model.name}: the attribute "${name}" must be ${types.join(' or ')}, not ${type}.`,
  )
}

function masksOf(model: ModelStatic<Model>, options: CrudOptions): ReadonlyMap<string, Mask> | null {
  const given = Object.entries(options.mask ?? {})
  if (given.length === 0) return null
  const attributes = Object.keys(model.getAttributes())
  return new Map(
    given.map(([name, permission]) => {
      if (!attributes.includes(name)) {
        throw unknownName('UNKNOWN_ATTRIBUTE', `${model.name}: mask: the attribute`, name, attributes)
      }
      return [name, maskOf(`${model.name}: mask.${name}`, permission)]
    }),
  )
}

function maskOf(where: string, given: unknown): Mask {
  if (typeof given === 'object' && given !== null) {
    const unknown = Object.keys(given).find((name) => name !== 'read' && name !== 'write')
    if (unknown !== undefined) throw unknownName('UNKNOWN_OPTION', `${where}: the option`, unknown, ['read', 'write'])
  }
  const { read = null, write = null } =
    typeof given === 'string' ? { read: given } : ((given ?? {}) as { read?: unknown; write?: unknown })
  const isPermission = (value: unknown): value is string | null =>
    value === null || (typeof value === 'string' && value !== '')
  if (isPermission(read) && isPermission(write) && (read ?? write) !== null) return { read, write }
  throw new CrudConfigError('INVALID_OPTION', `${where} must be a permission, or { read, write } of permissions.`)
}

/** The options that name a policy. */
export const POLICY_OPTIONS: readonly (
  | 'authorizePolicy'
  | 'getByIdPolicy'
  | 'getListPolicy'
  | 'createPolicy'
  | 'updatePolicy'
  | 'deletePolicy'
  | 'includeDeletedPolicy'
  | 'restorePolicy'
)[] = [
  'authorizePolicy',
  'getByIdPolicy',
  'getListPolicy',
  'createPolicy',
  'updatePolicy',
  'deletePolicy',
  'includeDeletedPolicy',
  'restorePolicy',
]

function policiesOf(model: string, options: CrudOptions): Policies | null {
  const given = POLICY_OPTIONS.filter((name) => options[name] !== undefined)
  if (given.length === 0) return null
  const resolved = new Map(given.map((name) => [name, resolve(model, name, options[name], options.policies ?? {})]))
  const byDefault = resolved.get('authorizePolicy')
  const rows: readonly (readonly [OperationName, Policy | undefined])[] = [
    ['getById', resolved.get('getByIdPolicy') ?? byDefault],
    ['getList', resolved.get('getListPolicy') ?? byDefault],
    ['create', resolved.get('createPolicy') ?? byDefault],
    ['bulkCreate', resolved.get('createPolicy') ?? byDefault],
    ['update', resolved.get('updatePolicy') ?? byDefault],
    ['delete', resolved.get('deletePolicy') ?? byDefault],
    ['bulkDelete', resolved.get('deletePolicy') ?? byDefault],
    ['restore', resolved.get('restorePolicy') ?? byDefault ?? authenticated],
  ]
  const operations = new Map<OperationName, Policy>()
  for (const [operation, policy] of rows) if (policy !== undefined) operations.set(operation, policy)
  return { operations, includeDeleted: resolved.get('includeDeletedPolicy') ?? authenticated }
}

function resolve(
  model: string,
  option: string,
  given: PolicyRef | undefined,
  policies: Readonly<Record<string, Policy>>,
): Policy {
  if (typeof given === 'function') return given
  const name = String(given)
  const policy = Object.hasOwn(policies, name) ? policies[name] : undefined
  if (typeof policy === 'function') return policy
  throw unknownName('UNKNOWN_POLICY', `${model}: ${option}: the policy`, name, Object.keys(policies))
}
