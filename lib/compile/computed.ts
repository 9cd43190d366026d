import type { Model, ModelStatic } from 'sequelize'
import type { OptionShape } from '../../types/check.js'
import type { CompiledComputation, CompiledComputedField, ComputedField } from '../../types/computed.js'
import type { Field, Target } from '../../types/field.js'
import type { CrudOptions, FieldOptions } from '../../types/options.js'
import { createDecoder } from '../codec/codecs.js'
import { CrudConfigError } from '../common/errors.js'
import { flag, isArray, isFunction, isText, option } from '../config/checks.js'
import { readDeprecation } from '../config/deprecated.js'
import { createUnknownNameError } from '../config/suggest.js'
import { createCountField } from './countField.js'
import { fieldsWithNameOf } from './fields.js'
import { valueTypeOfMember } from './members.js'
import { isMemberName, MEMBER_NAME } from './names.js'
import { type Naming, relatedNamingOf } from './naming.js'

/** The members of one entry of the option `computed`. */
export const COMPUTED: OptionShape = {
  type: option(isText, 'the name of a type'),
  nullable: flag,
  needs: option((value) => isArray(value) && [...Object(value)].every(isText), 'an array of attribute names'),
  resolve: option(isFunction, 'a function'),
  perCaller: flag,
}

/** The required members. */
export const REQUIRED: readonly string[] = ['type', 'resolve']

/** The members of an entry of `fields` that apply to a computed field. */
const OPTIONS: ReadonlySet<string> = new Set<keyof FieldOptions>(['exclude', 'only', 'name', 'deprecated'])

const RESPONSE_TARGETS: readonly Target[] = ['response', 'list']

/** A model with the fields, names and options that its computed fields depend on. */
interface ComputedSource {
  readonly model: ModelStatic<Model>
  readonly options: CrudOptions
  readonly fields: readonly Field[]
  readonly naming: Naming
}

/** Compiles the computed fields. @throws CrudConfigError for incomplete definitions, and for names that are taken */
export function createComputedFields(source: ComputedSource): readonly CompiledComputedField[] {
  const { model, options } = source
  const given = Object.entries(options.computed ?? {})
  if (given.length === 0) return NOTHING
  const fields = given.map(([name, definition]) => createComputedField(source, name, definition))
  const taken = takenNames(source)
  for (const { name, json } of fields) {
    const owner = taken.get(json.toLowerCase())
    if (owner !== undefined) {
      const message = `${model.name}: the computed field "${name}" and ${owner} are both "${json}" in responses.`
      throw new CrudConfigError('AMBIGUOUS_NAME', `${message} Give the computed field another name.`)
    }
    taken.set(json.toLowerCase(), `the computed field "${name}"`)
  }
  return Object.freeze(fields)
}

const NOTHING: readonly CompiledComputedField[] = Object.freeze([])

function createComputedField(
  { model, options, fields, naming }: ComputedSource,
  name: string,
  definition: ComputedField,
): CompiledComputedField {
  const where = `${model.name}: computed.${name}`
  const { type, nullable = false, needs = [], resolve, perCaller = false } = definition
  if (Object.hasOwn(model.getAttributes(), name)) {
    throw new CrudConfigError(
      'AMBIGUOUS_NAME',
      `${where}: the model has an attribute of this name. Give the computed field another name.`,
    )
  }
  const json = naming.field(name)
  const valueType = valueTypeOfMember(type)
  if (!isMemberName(json)) throw new CrudConfigError('INVALID_OPTION', `${where}: the name must be ${MEMBER_NAME}.`)
  const deprecated = readDeprecation(`${model.name}: fields.${name}.deprecated`, optionsOf(name, options).deprecated)
  const computed: CompiledComputation = Object.freeze({
    where,
    type,
    needs: needs.map((attribute) => requireNeededField(where, attribute, fields)),
    resolve,
    isPerCaller: perCaller,
    isNullable: nullable,
  })
  return Object.freeze({
    name,
    json,
    column: name,
    valueType,
    // If an idempotent reply is replayed to an unidentified caller, values that depend on the caller are null.
    nullable: nullable || (perCaller && hasIdempotency(options)),
    virtual: true,
    getter: false,
    isKey: false,
    assigned: false,
    targets: computedTargetsOf(model.name, name, options),
    filterable: false,
    sortable: false,
    operators: new Set<never>(),
    rules: RULES,
    decode: createDecoder(valueType),
    ...(deprecated === null ? {} : { deprecated }),
    computed,
  })
}

function hasIdempotency({ idempotency = false }: CrudOptions): boolean {
  return idempotency !== false
}

const RULES = Object.freeze({ required: false })

function requireNeededField(where: string, attribute: string, fields: readonly Field[]): Field {
  const field = fields.find(({ name }) => name === attribute)
  if (field !== undefined) return field
  const names = fields.map(({ name }) => name)
  throw createUnknownNameError('UNKNOWN_ATTRIBUTE', `${where}: needs: the attribute`, attribute, names)
}

function optionsOf(name: string, { fields = {} }: CrudOptions): FieldOptions {
  const options: Readonly<Record<string, FieldOptions | undefined>> = fields
  return Object.hasOwn(options, name) ? (options[name] ?? {}) : {}
}

function computedTargetsOf(model: string, name: string, options: CrudOptions): ReadonlySet<Target> {
  const own = optionsOf(name, options)
  const wrong = Object.keys(own).find((member) => !OPTIONS.has(member))
  if (wrong !== undefined) {
    const message = `${model}: fields.${name}.${wrong} is not possible for a computed field. Its options are exclude, only, name and deprecated.`
    throw new CrudConfigError('INVALID_OPTION', message)
  }
  const masks: Readonly<Record<string, unknown>> = options.mask ?? {}
  const masked = Object.hasOwn(masks, name) ? masks[name] : undefined
  if (typeof masked === 'object' && masked !== null && 'write' in masked) {
    const message = `${model}: mask.${name}.write does not apply to computed fields, which are read-only.`
    throw new CrudConfigError('INVALID_OPTION', message)
  }
  const only = own.only === undefined ? RESPONSE_TARGETS : [own.only].flat()
  const excluded = own.exclude === true ? RESPONSE_TARGETS : [own.exclude ?? []].flat()
  const isShown = (target: Target): boolean => only.includes(target) && !excluded.includes(target)
  return new Set(RESPONSE_TARGETS.filter((target) => isShown(target) && !excluded.includes('response')))
}

/** Returns the owner of each taken response member, by lower-case name. */
function takenNames({ model, options, fields, naming }: ComputedSource): Map<string, string> {
  const taken = new Map<string, string>()
  for (const [alias, association] of Object.entries(model.associations)) {
    const json = naming.relation(alias)
    const owner = `the association "${alias}"`
    taken.set(json.toLowerCase(), owner)
    if (association.isMultiAssociation)
      taken.set(createCountField(json).json.toLowerCase(), `the number of ${owner}, which select=${json}.Count adds,`)
    if (!options.flatten?.includes(alias)) continue
    const behind = relatedNamingOf(association.target, options)
    for (const attribute of Object.keys(association.target.getAttributes())) {
      const member = behind.field(attribute)
      taken.set(`${json}${member}`.toLowerCase(), `"${attribute}" of ${owner}, which is flattened,`)
    }
  }
  for (const { name, json } of fieldsWithNameOf(fields)) taken.set(json.toLowerCase(), `the attribute "${name}"`)
  return taken
}
