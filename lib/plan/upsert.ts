import type { Field, Value } from '../../types/field.js'
import type { UpsertItem as Sent, UpsertIntent } from '../../types/intent.js'
import type { Predicate, UpsertItem, UpsertPlan } from '../../types/plan.js'
import type { BodyNames, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { splitIntoChunks } from '../common/chunks.js'
import { projectOwnFields } from '../common/columns.js'
import { mapYielding } from '../common/eventLoop.js'
import { isPlainValue } from '../common/plainValue.js'
import { ALWAYS, joinPredicates, matchAnyValue, matchValue } from '../common/predicates.js'
import { invalidQuery } from '../common/problem.js'
import { ItemErrors, planCreate, planUpdate, splitValidation, versionMatchOf } from './update.js'

/** Maximum number of records in one lookup statement, if `by` has several fields. */
const MAX_COMPOSITE_LOOKUPS = 50

/**
 * Plans each item both as an update of the record with its values of `by`, and as the creation of a record.
 * @throws Problem 400 for a `by` without a unique constraint, for items without a value of `by`, for duplicates and for
 * invalid versions
 */
export async function planUpsert(
  resource: Resource,
  { by, items }: UpsertIntent,
  view: View,
  instant: Date,
): Promise<UpsertPlan> {
  const fields = resolveUniqueFields(resource, by, view)
  const names: BodyNames = { unknown: undefined, writable: view.writable }
  const nameOf = createKeyText(fields)
  const faults = new ItemErrors(resource)
  const seen = new Set<string>()
  const found = await mapYielding(items, (item, index): readonly Value[] | null => {
    if (item === null) {
      faults.add(`[${index}]`, 'object')
      return null
    }
    faults.checkVersion(item, index)
    const values = uniqueValuesOf({ resource, fields, names, errors: faults }, item, index)
    if (values === null) return null
    const name = nameOf(values)
    if (seen.has(name)) faults.add(pathOfItem(index, fields), 'twice')
    seen.add(name)
    return values
  })
  faults.throwIfAny()
  const values = found.filter((each) => each !== null)
  const projection = projectOwnFields(resource.keys)
  const planItemUpdate = (item: Sent | null) => {
    const plan = { key: '', match: item === null ? null : versionMatchOf(item), body: item?.update ?? {}, names }
    return { ...planUpdate(resource, plan, projection, instant), where: ALWAYS, operation: 'upsert' as const }
  }
  const planned = await mapYielding(items, (item, index): UpsertItem | null => {
    const own = found[index]
    if (item === null || own === null || own === undefined) return null
    const isRefused = item.create instanceof Error
    const body = item.create instanceof Error ? {} : item.create
    const create = planCreate(resource, { body, names }, projection, instant)
    return {
      uniqueText: nameOf(own),
      update: planItemUpdate(item),
      create: { ...create, operation: 'upsert', ...(isRefused ? { policyError: item.create } : {}) },
    }
  })
  return {
    kind: 'upsert',
    by: fields,
    uniqueTextOf: nameOf,
    items: planned.filter((each) => each !== null),
    lookups: matchUniqueValues(fields, values),
    anyUpdate: planItemUpdate(null),
  }
}

/** Returns the fields of `by`. Every invalid `by` causes one error, which does not reveal existing fields. */
function resolveUniqueFields({ uniques, byName, keys }: Resource, by: string | null, view: View): readonly Field[] {
  const names = by === null ? [] : by.split(',').map((name) => name.trim().toLowerCase())
  const named = names.flatMap((name) => byName.get(name) ?? [])
  const isRequested = (all: readonly Field[]): boolean =>
    all.length === names.length && new Set(named).size === names.length && all.every((field) => named.includes(field))
  const isUsable = (field: Field): boolean => keys.includes(field) || (field.filterable && view.readable(field, null))
  const fields = uniques.find(isRequested)
  if (fields?.every(isUsable)) return fields
  const open = uniques.filter((all) => all.every(isUsable)).map((all) => all.map(({ json }) => json).join(','))
  if (open.length > 0) throw invalidQuery('by', `must name a unique key: ${open.join(' or ')}.`)
  throw invalidQuery(
    'by',
    'is not possible here: the resource has neither a key that clients choose nor a unique index.',
  )
}

interface UpsertContext {
  readonly resource: Resource
  readonly fields: readonly Field[]
  readonly names: BodyNames
  readonly errors: ItemErrors
}

/** Returns a function that joins the values of a record, stored or sent, into one text. */
function createKeyText(fields: readonly Field[]): UpsertPlan['uniqueTextOf'] {
  return (values) => JSON.stringify(fields.map((field, index) => field.decode(values[index])))
}

/** Returns the values of `by` in a new record. Returns null for an invalid item, whose errors are collected. */
function uniqueValuesOf(
  { resource, fields, names, errors }: UpsertContext,
  { create, update }: Sent,
  index: number,
): readonly Value[] | null {
  const { changes, invalid } = splitValidation(
    resource.validateCreate(create instanceof Error ? update : create, names),
  )
  const values = fields.map((field) => changes.get(field.name) ?? null)
  const missing = fields.filter((_, place) => values[place] === null)
  if (missing.length > 0 && create instanceof Error) throw create
  for (const { json } of missing) {
    const messages = invalid?.errors[json]
    if (messages === undefined) errors.add(`[${index}].${json}`, 'required')
    else errors.addMessages(`[${index}].${json}`, messages)
  }
  // A misspelt name may be the reason for the missing value, so unknown names are reported too.
  for (const [name, messages] of missing.length === 0 ? [] : Object.entries(invalid?.errors ?? {})) {
    if (!resource.fields.some(({ json }) => json === name)) errors.addMessages(`[${index}].${name}`, messages)
  }
  return missing.length > 0 ? null : values.filter((value) => value !== null)
}

function pathOfItem(index: number, [field, ...more]: readonly Field[]): string {
  return field === undefined || more.length > 0 ? `[${index}]` : `[${index}].${field.json}`
}

/** Builds predicates for the records with any of the given values. */
function matchUniqueValues(fields: readonly Field[], values: readonly (readonly Value[])[]): readonly Predicate[] {
  const plain = values.map((each) => each.filter(isPlainValue))
  const [field, ...more] = fields
  if (field !== undefined && more.length === 0) {
    const one = plain.flat()
    return one.length === 0 ? [] : [matchAnyValue(field, one)]
  }
  const each = plain.map((record) =>
    joinPredicates(
      'and',
      fields.map((part, place) => matchValue(part, record[place] ?? '', false)),
    ),
  )
  const chunks = splitIntoChunks(each, MAX_COMPOSITE_LOOKUPS).map((chunk) => joinPredicates('or', chunk))
  return chunks.filter((chunk) => chunk !== null)
}
