import type { Field } from '../../types/field.js'
import type { Scope } from '../../types/identity.js'
import type { FixedValues, ResolvedScope, Resource } from '../../types/resource.js'
import type { ConditionSource } from '../../types/rooms.js'
import { addCondition, matchAnyOrNull } from '../common/predicates.js'
import { Problem } from '../common/problem.js'
import { ignoreRejections } from '../common/promise.js'
import { isPlainObject } from '../config/inherited.js'
import { planCondition } from '../plan/condition.js'
import { isStoredUnchanged, readTypedValue, type ScopeValue } from './scopeValues.js'

const UNRESTRICTED: ResolvedScope = Object.freeze({ fixed: [], where: null, sources: [] })

/**
 * Reads the result of a resource's scope function.
 *
 * @throws TypeError for anything but null, attribute values and conditions
 */
export function readScope(resource: Resource, given: Scope | null | undefined): ResolvedScope {
  try {
    return resolveScope(resource, given)
  } catch (error) {
    if (!ignoreRejections(given)) throw error
    throw new TypeError(`${resource.name}: scope returned a promise as a value. Await it in an async function`)
  }
}

function resolveScope(resource: Resource, given: Scope | null | undefined): ResolvedScope {
  if (given === null) return UNRESTRICTED
  if (typeof given === 'string') return confineByCondition(resource, given)
  // Only an explicit null means no restriction. A missing return must not open all records.
  if (!isFilledObject(given)) {
    throw new TypeError(
      `${resource.name}: scope must return null (all records), a condition, or a plain object with values of attributes`,
    )
  }
  if (!Object.hasOwn(given, 'where')) return confineByValues(resource, given)
  const { where, fixed, ...others } = given
  const [other] = Object.keys(others)
  if (other !== undefined) {
    throw new TypeError(
      `${resource.name}: scope returned "where" together with "${other}". Only "fixed" is allowed beside "where": { fixed: { ... }, where: condition }`,
    )
  }
  const condition = confineByCondition(resource, where)
  if (!Object.hasOwn(given, 'fixed')) return condition
  if (!isFilledObject(fixed))
    throw new TypeError(`${resource.name}: scope: "fixed" must be a plain object with values of attributes`)
  const values = confineByValues(resource, fixed)
  return {
    fixed: values.fixed,
    where: addCondition(values.where, condition.where),
    sources: [...values.sources, ...condition.sources],
  }
}

/**
 * Returns the conjunction of the conditions of all sources; null without sources. @throws TypeError for an invalid
 * source
 */
export function planConditionSources(resource: Resource, sources: readonly ConditionSource[]): ResolvedScope['where'] {
  return sources
    .map((source) =>
      typeof source === 'string' ? planScopeCondition(resource, source) : confineByValues(resource, source).where,
    )
    .reduce<ResolvedScope['where']>((all, part) => addCondition(all, part), null)
}

function confineByCondition(resource: Resource, text: unknown): ResolvedScope {
  const where = planScopeCondition(resource, text)
  return { fixed: [], where, sources: [String(text)] }
}

/** Whether a value is an object with members. Only own members are read, so an inherited value would limit nothing. */
function isFilledObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isPlainObject(value) && Object.keys(value).length > 0
}

/** Plans the condition of a scope. @throws TypeError with the reason, which clients do not see */
function planScopeCondition(resource: Resource, text: unknown): NonNullable<ResolvedScope['where']> {
  if (typeof text !== 'string' || text.trim() === '') {
    throw new TypeError(
      `${resource.name}: scope: the condition must be a text that is not blank. Return null for all records`,
    )
  }
  try {
    return planCondition(resource, text)
  } catch (error) {
    throw new TypeError(`${resource.name}: scope returned an invalid condition: ${errorReason(error)}`, {
      cause: error,
    })
  }
}

function errorReason(error: unknown): string {
  if (error instanceof Problem) return (error.detail ?? error.title).replace(/^filter: /, '')
  return error instanceof Error ? error.message : String(error)
}

/** Returns the attributes with a single value, and a condition for the attributes with several values. */
function confineByValues(resource: Resource, given: Readonly<Record<string, unknown>>): ResolvedScope {
  const fixed: FixedValues[number][] = []
  const sources: ConditionSource[] = []
  let where: ResolvedScope['where'] = null
  for (const [name, value] of Object.entries(given)) {
    const field = resource.fields.find((candidate) => candidate.name === name && !candidate.virtual)
    if (field === undefined) throw new TypeError(`${resource.name}: scope returned the unknown attribute "${name}"`)
    if (Array.isArray(value)) {
      where = addCondition(where, matchScopeValues(resource, field, value))
      sources.push({ [name]: value })
    } else fixed.push([field, readScalar(resource, field, value)])
  }
  return { fixed, where, sources }
}

function matchScopeValues(
  resource: Resource,
  field: Field,
  values: readonly unknown[],
): NonNullable<ResolvedScope['where']> {
  if (field.valueType.type === 'json') {
    throw new TypeError(
      `${resource.name}: scope returned an array for "${field.name}", which is a JSON attribute. Return a condition instead`,
    )
  }
  // A hole in the array is undefined here, which is an error.
  return matchAnyOrNull(
    field,
    Array.from(values, (value) => readScalar(resource, field, value)),
  )
}

function readScalar(resource: Resource, field: Field, value: unknown): ScopeValue | null {
  if (value === null) return null
  const read = isScalar(value) ? readTypedValue(field, value) : null
  if (read === null) {
    const { type, values } = field.valueType
    const given = typeof value === 'number' ? String(value) : typeof value
    const expected = values === undefined ? `a value of type ${type}` : `one of the values ${values.join(', ')}`
    throw new TypeError(`${resource.name}: scope must return ${expected} for "${field.name}", not ${given}`)
  }
  // A rounded or truncated value could match records of other callers.
  if (isStoredUnchanged(field, read)) return read
  throw new TypeError(
    `${resource.name}: scope returned a value for "${field.name}" that the column would round or truncate`,
  )
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
