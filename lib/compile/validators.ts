import type { Schema } from 'joi'
import type { Field } from '../../types/field.js'
import type { CrudOptions, FieldOptions } from '../../types/options.js'
import type { Validator } from '../../types/resource.js'
import { loadJoi } from '../codec/joi.js'
import type { Tell } from '../common/messages.js'
import { NO_SEGMENTS } from '../common/segment.js'

let rules: typeof import('./rules.js') | null = null
let loading: Promise<void> | null = null

/** Loads what bodies are validated with, which those who only read do without. */
export function loadRules(): Promise<void> {
  if (loading !== null) return loading
  loading = Promise.all([import('./rules.js'), loadJoi()]).then(([module]) => {
    rules = module
  })
  // Whoever waits for it hears of a failure; that nobody does yet must not end the process.
  loading.catch(() => undefined)
  return loading
}

/**
 * The validator of one body shape. Its schema is made of the first body: schemas would be most of what mounting costs,
 * many resources of a process are never written to, and the rules they are made of have all been checked.
 */
export function validatorOf(
  shape: 'create' | 'update' | 'replace',
  fields: readonly Field[],
  options: CrudOptions,
  holds: readonly string[],
  tell: Tell,
): Validator {
  const { unknownProperties: unknown = 'ignore' } = options
  const schemas = schemasOf(fields, options)
  const target = shape === 'create' ? 'create' : 'update'
  let validate: Validator | null = null
  return (body, names) => {
    if (rules === null) throw new TypeError('a body came before its rules were loaded')
    validate ??= rules.bodyValidator(
      fields.filter(({ targets }) => targets.has(target)),
      {
        mode: shape === 'update' ? 'update' : 'create',
        unknown,
        known: new Set(fields.map(({ json }) => json)),
        holds,
        schemas,
        tell,
        noKeys: noKeysOf(fields),
      },
    )
    return validate(body, names)
  }
}

/** Texts that are no part of a path: clients take the dots out of URLs, and an empty one is the path of the collection. */
const NO_KEYS: ReadonlySet<unknown> = new Set(NO_SEGMENTS)
const NO_PARTS: ReadonlySet<unknown> = new Set([''])

function noKeysOf(fields: readonly Field[]): ReadonlySet<unknown> {
  return fields.filter(({ isKey }) => isKey).length > 1 ? NO_PARTS : NO_KEYS
}

/** The host's own schemas by JSON name. */
function schemasOf(fields: readonly Field[], options: CrudOptions): ReadonlyMap<string, Schema> {
  const given: Readonly<Record<string, FieldOptions | undefined>> = options.fields ?? {}
  const schemas = new Map<string, Schema>()
  for (const { name, json } of fields) {
    const schema = given[name]?.schema
    if (schema !== undefined) schemas.set(json, schema)
  }
  return schemas
}
