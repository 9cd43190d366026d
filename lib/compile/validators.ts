import type { Schema } from 'joi'
import type { Field } from '../../types/field.js'
import type { CrudOptions, FieldOptions } from '../../types/options.js'
import type { Validator } from '../../types/resource.js'
import { loadJoi } from '../codec/joi.js'
import { internalError } from '../common/internalError.js'
import type { Translate } from '../common/messages.js'
import { INVALID_SEGMENTS } from '../common/pathSegment.js'

let rulesModule: typeof import('./rules.js') | null = null
let loading: Promise<void> | null = null

/** Loads the validation of bodies on demand. Resources without writes do not need it. */
export function loadRules(): Promise<void> {
  if (loading !== null) return loading
  loading = Promise.all([import('./rules.js'), loadJoi()]).then(([module]) => {
    rulesModule = module
  })
  // Callers that await the promise handle its error. Without this handler an earlier failure would end the process.
  loading.catch(() => undefined)
  return loading
}

/**
 * Returns the validator of one body shape. The validator builds its schema for the first body, because building all
 * schemas would dominate the time of mounting. Many resources are never written. Rules are checked at mount.
 */
export function createValidator(
  shape: 'create' | 'update' | 'replace',
  fields: readonly Field[],
  options: CrudOptions,
  nestedMembers: readonly string[],
  translate: Translate,
): Validator {
  const { unknownProperties: unknown = 'ignore' } = options
  const schemas = schemasOf(fields, options)
  const target = shape === 'create' ? 'create' : 'update'
  let validate: Validator | null = null
  return (body, names) => {
    if (rulesModule === null) throw internalError('a request body was validated before its rules were loaded')
    validate ??= rulesModule.createBodyValidator(
      fields.filter(({ targets }) => targets.has(target)),
      {
        mode: shape === 'update' ? 'update' : 'create',
        unknown,
        known: new Set(fields.map(({ json }) => json)),
        nestedRelations: nestedMembers,
        schemas,
        translate,
        invalidKeys: invalidKeysOf(fields),
      },
    )
    return validate(body, names)
  }
}

/**
 * Texts that cannot be a path segment. Clients resolve `.` and `..` in URLs, and an empty segment is the collection.
 */
const INVALID_KEYS: ReadonlySet<unknown> = new Set(INVALID_SEGMENTS)
const INVALID_KEY_PARTS: ReadonlySet<unknown> = new Set([''])

function invalidKeysOf(fields: readonly Field[]): ReadonlySet<unknown> {
  return fields.filter(({ isKey }) => isKey).length > 1 ? INVALID_KEY_PARTS : INVALID_KEYS
}

/** Returns the host's schemas by JSON name. */
function schemasOf(fields: readonly Field[], options: CrudOptions): ReadonlyMap<string, Schema> {
  const given: Readonly<Record<string, FieldOptions | undefined>> = options.fields ?? {}
  const schemas = new Map<string, Schema>()
  for (const { name, json } of fields) {
    const schema = given[name]?.schema
    if (schema !== undefined) schemas.set(json, schema)
  }
  return schemas
}
