import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { MaskedBy } from '../../types/documented.js'
import type { Field } from '../../types/field.js'
import type { Identity } from '../../types/identity.js'
import type { AttributeName } from '../../types/names.js'
import type { Behaviour } from '../../types/resource.js'
import { withoutAbsent } from '../common/absent.js'
import { withoutMembers } from '../common/each.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { option } from '../config/checks.js'
import { unknownName } from '../config/suggest.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Attributes that only callers with a permission, or a role of that name, may read or write. */
    readonly mask?: { readonly [attribute in AttributeName<M>]?: string | MaskOptions }
  }
}

/** The required permissions. A missing member requires none. */
export interface MaskOptions {
  readonly read?: string
  readonly write?: string
}

/**
 * Hides attributes from callers without the permission (or a role of that name). Responses have the default of their
 * type, queries do not know them, and bodies with a masked write ignore them.
 */
export const mask: BehaviourDefinition = {
  options: { mask: option(isObject, 'an object of permissions by attribute', { guards: true }) },
  prepare: ({ model }, { mask: given = {} }) => {
    const masks = new Map(
      Object.entries(given).map(([name, permission]) => [name, maskOf(`${model.name}: mask.${name}`, permission)]),
    )
    if (masks.size === 0) return null
    return {
      facts: { asksIdentity: true, restricts: true },
      documented: { masks },
      check: (_, attributes) => {
        const unknown = [...masks.keys()].find((name) => !attributes.includes(name))
        if (unknown === undefined) return
        throw unknownName('UNKNOWN_ATTRIBUTE', `${model.name}: mask: the attribute`, unknown, attributes)
      },
      behaviour: (jsonNames) => behaviourOf(masks, jsonNames),
    }
  },
}

function maskOf(where: string, given: unknown): MaskedBy {
  if (typeof given === 'object' && given !== null) {
    const unknown = Object.keys(given).find((name) => name !== 'read' && name !== 'write')
    if (unknown !== undefined) throw unknownName('UNKNOWN_OPTION', `${where}: the option`, unknown, ['read', 'write'])
  }
  const { read = null, write = null } =
    typeof given === 'string' ? { read: given } : ((given ?? {}) as { read?: unknown; write?: unknown })
  const isPermission = (value: unknown): value is string | null => value === null || isPermissionName(value)
  if (isPermission(read) && isPermission(write) && (read ?? write) !== null) return { read, write }
  throw new CrudConfigError('INVALID_OPTION', `${where} must be a permission, or { read, write } of permissions.`)
}

function isPermissionName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function behaviourOf(masks: ReadonlyMap<string, MaskedBy>, jsonNames: ReadonlyMap<string, string>): Behaviour {
  const guarded = [...masks].flatMap(([name, { write }]) => {
    const json = jsonNames.get(name)
    return write === null || json === undefined ? [] : [{ json, permission: write }]
  })
  return {
    permissions: [...masks.values()].flatMap(({ read }) => read ?? []),
    readable: ({ name }, { identity }) => holds(identity, masks.get(name)?.read ?? null),
    ...(guarded.length === 0
      ? {}
      : {
          writable: ({ name }, { identity }) => holds(identity, masks.get(name)?.write ?? null),
          accept: (_, intent, { identity }) => {
            const barred = guarded.filter(({ permission }) => !holds(identity, permission)).map(({ json }) => json)
            return barred.length === 0 ? intent : withoutMembers(intent, new Set(barred))
          },
          amend: ({ fields }, plan, { identity }) => {
            const isBarred = ({ name }: Field): boolean => !holds(identity, masks.get(name)?.write ?? null)
            return plan.kind === 'update' ? withoutAbsent(plan, fields.filter(isBarred)) : plan
          },
        }),
    headers: { Vary: 'Authorization', 'Cache-Control': 'private' },
  }
}

/** Whether a caller has a permission, or a role of its name. */
export function holds(identity: Identity | null, permission: string | null): boolean {
  if (permission === null) return true
  // Only `true` counts: a promise of the host's own set must not grant the permission.
  return identity !== null && (has(identity.permissions, permission) || has(identity.roles, permission))
}

function has(held: { readonly has: (permission: string) => unknown }, permission: string): boolean {
  return held.has(permission) === true
}
