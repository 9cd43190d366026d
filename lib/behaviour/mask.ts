import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { MaskPermissions } from '../../types/documented.js'
import type { Field } from '../../types/field.js'
import type { Identity } from '../../types/identity.js'
import type { AttributeName } from '../../types/names.js'
import type { Behaviour } from '../../types/resource.js'
import { removeMembers } from '../common/compositeWrites.js'
import { CrudConfigError } from '../common/errors.js'
import { PRIVATE_HEADERS } from '../common/headers.js'
import { isObject } from '../common/object.js'
import { keepOmittedFields } from '../common/omittedFields.js'
import { isTrue } from '../common/promise.js'
import { option } from '../config/checks.js'
import { createUnknownNameError } from '../config/suggest.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Attributes that only callers with a permission, or a role of that name, may read or write. */
    readonly mask?: { readonly [attribute in AttributeName<M>]?: string | MaskOptions }
  }
}

/** The permissions that an attribute requires. A missing member requires no permission. */
export interface MaskOptions {
  readonly read?: string
  readonly write?: string
}

/**
 * Hides attributes from callers without the permission, or without a role of that name. Responses have the default
 * value of the attribute's type. Queries do not know the attribute, and bodies ignore an attribute with a masked write.
 */
export const mask: BehaviourDefinition = {
  options: { mask: option(isObject, 'an object of permissions by attribute', { isRestrictive: true }) },
  prepare: ({ model }, { mask: given = {} }) => {
    const masks = new Map(
      Object.entries(given).map(([name, permission]) => [name, readMask(`${model.name}: mask.${name}`, permission)]),
    )
    if (masks.size === 0) return null
    return {
      facts: { needsIdentity: true, isRestricted: true },
      documented: { masks },
      check: (_, attributes) => {
        const unknown = [...masks.keys()].find((name) => !attributes.includes(name))
        if (unknown === undefined) return
        throw createUnknownNameError('UNKNOWN_ATTRIBUTE', `${model.name}: mask: the attribute`, unknown, attributes)
      },
      behaviour: (jsonNames) => createBehaviour(masks, jsonNames),
    }
  },
}

function readMask(where: string, given: unknown): MaskPermissions {
  if (typeof given === 'object' && given !== null) {
    const unknown = Object.keys(given).find((name) => name !== 'read' && name !== 'write')
    if (unknown !== undefined)
      throw createUnknownNameError('UNKNOWN_OPTION', `${where}: the option`, unknown, ['read', 'write'])
  }
  const { read = null, write = null } =
    typeof given === 'string' ? { read: given } : ((given ?? {}) as { read?: unknown; write?: unknown })
  const isPermission = (value: unknown): value is string | null => value === null || isPermissionName(value)
  if (isPermission(read) && isPermission(write) && (read ?? write) !== null) return { read, write }
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${where} must be the name of a permission, or an object { read, write } with such names.`,
  )
}

function isPermissionName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function createBehaviour(
  masks: ReadonlyMap<string, MaskPermissions>,
  jsonNames: ReadonlyMap<string, string>,
): Behaviour {
  const guarded = [...masks].flatMap(([name, { write }]) => {
    const json = jsonNames.get(name)
    return write === null || json === undefined ? [] : [{ json, permission: write }]
  })
  return {
    permissions: [...masks.values()].flatMap(({ read }) => read ?? []),
    readable: ({ name }, { identity }) => isPermitted(identity, masks.get(name)?.read ?? null),
    ...(guarded.length === 0
      ? {}
      : {
          writable: ({ name }, { identity }) => isPermitted(identity, masks.get(name)?.write ?? null),
          accept: (_, intent, { identity }) => {
            const barred = guarded
              .filter(({ permission }) => !isPermitted(identity, permission))
              .map(({ json }) => json)
            return barred.length === 0 ? intent : removeMembers(intent, new Set(barred))
          },
          amend: ({ fields }, plan, { identity }) => {
            const isWriteDenied = ({ name }: Field): boolean => !isPermitted(identity, masks.get(name)?.write ?? null)
            const isUpdate = plan.kind === 'update' || plan.kind === 'restore'
            return isUpdate ? keepOmittedFields(plan, fields.filter(isWriteDenied)) : plan
          },
        }),
    headers: PRIVATE_HEADERS,
  }
}

/** Whether a caller has a permission, or a role of its name. */
export function isPermitted(identity: Identity | null, permission: string | null): boolean {
  if (permission === null) return true
  // Only `true` grants the permission. The host's own set could return a promise, which is truthy.
  return (
    identity !== null &&
    (hasPermissionIn(identity.permissions, permission) || hasPermissionIn(identity.roles, permission))
  )
}

function hasPermissionIn(granted: { readonly has: (permission: string) => unknown }, permission: string): boolean {
  return isTrue(granted.has(permission))
}
