import type { Field, Value } from '../../types/field.js'
import type { UpsertItem as Sent, UpsertIntent } from '../../types/intent.js'
import type { PlainValue, Predicate, UpsertItem, UpsertPlan } from '../../types/plan.js'
import type { BodyNames, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { ofOwn } from '../common/columns.js'
import { among, compared, junction } from '../common/predicates.js'
import { invalidQuery } from '../common/problem.js'
import { mapInTurns } from '../common/turns.js'
import { Faults, judged, matchOf, planCreate, planUpdate } from './update.js'

/** Maximum number of records that one statement looks up by several values each. */
const TOGETHER = 50

/**
 * Plans each item both as an update of the record with its values of `by`, and as the creation of a record.
 *
 * @throws Problem 400 for a `by` without a unique constraint, for items without a value of it, for duplicates and for invalid versions
 */
export async function planUpsert(
  resource: Resource,
  { by, items }: UpsertIntent,
  view: View,
  instant: Date,
): Promise<UpsertPlan> {
  const fields = fieldsBy(resource, by, view)
  const names: BodyNames = { unknown: undefined, writable: view.writable }
  const nameOf = namer(fields)
  const faults = new Faults(resource)
  const seen = new Set<string>()
  const found = await mapInTurns(items, (item, index): readonly Value[] | null => {
    if (item === null) {
      faults.add(`[${index}]`, 'object')
      return null
    }
    faults.version(item, index)
    const values = valuesOf({ resource, fields, names, faults }, item, index)
    if (values === null) return null
    const name = nameOf(values)
    if (seen.has(name)) faults.add(placeOf(index, fields), 'twice')
    seen.add(name)
    return values
  })
  faults.throwIfAny()
  const values = found.filter((each) => each !== null)
  const projection = ofOwn(resource.keys)
  const update = (item: Sent | null) => {
    const plan = { key: '', match: item === null ? null : matchOf(item), body: item?.update ?? {}, names }
    return { ...planUpdate(resource, plan, projection, instant), where: ANY, operation: 'upsert' as const }
  }
  const planned = await mapInTurns(items, (item, index): UpsertItem | null => {
    const own = found[index]
    if (item === null || own === null || own === undefined) return null
    const isRefused = item.create instanceof Error
    const body = item.create instanceof Error ? {} : item.create
    const create = planCreate(resource, { body, names }, projection, instant)
    return {
      name: nameOf(own),
      update: update(item),
      create: { ...create, operation: 'upsert', ...(isRefused ? { refusal: item.create } : {}) },
    }
  })
  return {
    kind: 'upsert',
    by: fields,
    nameOf,
    items: planned.filter((each) => each !== null),
    wanted: wantedBy(fields, values),
    any: update(null),
  }
}

const ANY: Predicate = { kind: 'always' }

/** Fields of `by`. Every invalid `by` has the same error, so that it does not reveal existing fields. */
function fieldsBy({ uniques, byName, keys }: Resource, by: string | null, view: View): readonly Field[] {
  const names = by === null ? [] : by.split(',').map((name) => name.trim().toLowerCase())
  const named = names.flatMap((name) => byName.get(name) ?? [])
  const isNamed = (all: readonly Field[]): boolean =>
    all.length === names.length && new Set(named).size === names.length && all.every((field) => named.includes(field))
  const isOpen = (field: Field): boolean => keys.includes(field) || (field.filterable && view.readable(field, null))
  const fields = uniques.find(isNamed)
  if (fields?.every(isOpen)) return fields
  const open = uniques.filter((all) => all.every(isOpen)).map((all) => all.map(({ json }) => json).join(','))
  if (open.length > 0) throw invalidQuery('by', `must name a unique key: ${open.join(' or ')}.`)
  throw invalidQuery(
    'by',
    'is not possible here: the resource has neither a key that clients choose nor a unique index.',
  )
}

interface Upserting {
  readonly resource: Resource
  readonly fields: readonly Field[]
  readonly names: BodyNames
  readonly faults: Faults
}

/** Returns a function that joins the values of a record, stored or sent, into one text. */
function namer(fields: readonly Field[]): UpsertPlan['nameOf'] {
  return (values) => JSON.stringify(fields.map((field, index) => field.decode(values[index])))
}

/** Values of `by` in a new record. Null for an invalid item, whose errors are collected. */
function valuesOf(
  { resource, fields, names, faults }: Upserting,
  { create, update }: Sent,
  index: number,
): readonly Value[] | null {
  const { changes, invalid } = judged(resource.validateCreate(create instanceof Error ? update : create, names))
  const values = fields.map((field) => changes.get(field.name) ?? null)
  const missing = fields.filter((_, place) => values[place] === null)
  if (missing.length > 0 && create instanceof Error) throw create
  for (const { json } of missing) {
    const messages = invalid?.errors[json]
    if (messages === undefined) faults.add(`[${index}].${json}`, 'required')
    else faults.tell(`[${index}].${json}`, messages)
  }
  // A misspelt name may be the reason for the missing value.
  for (const [name, messages] of missing.length === 0 ? [] : Object.entries(invalid?.errors ?? {})) {
    if (!resource.fields.some(({ json }) => json === name)) faults.tell(`[${index}].${name}`, messages)
  }
  return missing.length > 0 ? null : values.filter((value) => value !== null)
}

function placeOf(index: number, [field, ...more]: readonly Field[]): string {
  return field === undefined || more.length > 0 ? `[${index}]` : `[${index}].${field.json}`
}

/** Predicates for the records with any of these values. */
function wantedBy(fields: readonly Field[], values: readonly (readonly Value[])[]): readonly Predicate[] {
  const plain = values.map((each) => each.filter(isPlain))
  const [field, ...more] = fields
  if (field !== undefined && more.length === 0) {
    const one = plain.flat()
    return one.length === 0 ? [] : [among(field, one)]
  }
  const each = plain.map((record) =>
    junction(
      'and',
      fields.map((part, place) => compared(part, record[place] ?? '', false)),
    ),
  )
  const chunks = Array.from({ length: Math.ceil(each.length / TOGETHER) }, (_, chunk) =>
    junction('or', each.slice(chunk * TOGETHER, (chunk + 1) * TOGETHER)),
  )
  return chunks.filter((chunk) => chunk !== null)
}

function isPlain(value: Value): value is PlainValue {
  return typeof value !== 'object' || value instanceof Date
}
