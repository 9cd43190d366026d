import type { Behaviour } from '../../types/behaviour.js'
import type { Identity } from '../../types/identity.js'
import type { Intent } from '../../types/intent.js'

/** The permissions of one masked attribute; null where everybody may. */
export interface Mask {
  readonly read: string | null
  readonly write: string | null
}

/**
 * Attributes that a caller without the permission, or a role of its name, sees as their type's default. They are
 * unknown to such a caller's queries, and where writing is masked too they are ignored in bodies.
 */
export function mask(masks: ReadonlyMap<string, Mask>, jsonNames: ReadonlyMap<string, string>): Behaviour {
  const guarded = [...masks].flatMap(([name, { write }]) => {
    const json = jsonNames.get(name)
    return write === null || json === undefined ? [] : [{ json, permission: write }]
  })
  return {
    name: 'mask',
    guarded: [...masks.keys()],
    permissions: [...masks.values()].flatMap(({ read }) => read ?? []),
    readable: ({ name }, { identity }) => holds(identity, masks.get(name)?.read ?? null),
    ...(guarded.length === 0
      ? {}
      : {
          accept: (_, intent, { identity }) => {
            const barred = guarded.filter(({ permission }) => !holds(identity, permission)).map(({ json }) => json)
            return barred.length === 0 ? intent : stripped(intent, new Set(barred))
          },
        }),
    headers: { Vary: 'Authorization', 'Cache-Control': 'private' },
  }
}

/** Whether a caller has a permission, or a role of its name (ruling 60). */
export function holds(identity: Identity | null, permission: string | null): boolean {
  if (permission === null) return true
  return identity !== null && (identity.permissions.has(permission) || identity.roles.has(permission))
}

/** The intent without the properties that its sender may not write. */
function stripped(intent: Intent, barred: ReadonlySet<string>): Intent {
  switch (intent.kind) {
    case 'create':
    case 'update':
      return { ...intent, body: without(intent.body, barred) }
    case 'bulkCreate':
      return { ...intent, bodies: intent.bodies.map((body) => (isObject(body) ? without(body, barred) : body)) }
    default:
      return intent
  }
}

function without(body: Readonly<Record<string, unknown>>, barred: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !barred.has(name)))
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
