// Kept for speed: rows of new records without instances of Sequelize.

import type { Changes } from '../../types/changes.js'
import type { Field, FieldType } from '../../types/field.js'
import type { TableTraits } from '../../types/table.js'
import { isFast } from '../common/speed.js'
import { readDate } from '../common/values.js'
import { defaultOf, isBuiltPlainly, isSanitized, refusesNull, type Test, validatorsOf } from '../sequelize/plain.js'
import { isExpression } from '../sequelize/sql.js'
import type { Store } from './store.js'
import { isStored, type NewRow, stampsOf } from './stored.js'
import { isTooLong } from './validation.js'

/** A record as it will be stored, made without an instance of Sequelize. */
interface Made {
  readonly row: NewRow
  /** Whether nobody has given it a value: neither the client, nor a behaviour, nor the model. */
  readonly isBlank: boolean
}

/**
 * The rows of new records, as their instances would be stored. Null where only an instance tells: where code of the
 * host's takes part, where a value is an expression, and where the model's validators object, which say why.
 */
export function plainRows(
  store: Store,
  records: readonly Changes[],
  upkeep: Changes,
  instant: Date,
): readonly NewRow[] | null {
  if (!isPlain(store)) return null
  const slots = slotsOf(store, upkeep, stampsOf(store, 'create', instant))
  const rows: Made[] = []
  for (const changes of records) {
    const made = rowFor(store, slots, changes)
    if (made === null) return null
    rows.push(made)
  }
  return isUneven(store, rows) ? null : rows.map(({ row }) => row)
}

/** The row of one. */
export function plainRow(store: Store, changes: Changes, upkeep: Changes, instant: Date): NewRow | null {
  if (!isPlain(store)) return null
  return rowFor(store, slotsOf(store, upkeep, stampsOf(store, 'create', instant)), changes)?.row ?? null
}

/** Whether changes of a record pass the model's validators, as far as that can be told without an instance. */
export function passesPlainly(store: Store, changes: Changes): boolean {
  if (store.resource.validation === 'rules') return true
  if (!isPlain(store)) return false
  return store.resource.fields.every((field) => {
    const value = changes.get(field.name)
    return (
      value === undefined || (isSet(field, isSanitized(store.model, field.name), value) && validOf(store, field)(value))
    )
  })
}

function isPlain({ resource: { validation }, model }: Store): boolean {
  return isFast && (validation === 'rules' || validation === 'attributes') && isBuiltPlainly(model)
}

/** What decides about the values of a field, which is the same for all rows of a write. */
interface Slot {
  readonly field: Field
  /** What is stored whatever the client says; undefined for nothing. */
  readonly kept: unknown
  /** What is stored where nobody else says anything. */
  readonly stamp: unknown
  readonly isSanitized: boolean
  readonly isValid: Test
}

function slotsOf(store: Store, upkeep: Changes, stamps: Changes): readonly Slot[] {
  return store.resource.fields.map((field) => ({
    field,
    kept: upkeep.get(field.name),
    stamp: stamps.get(field.name),
    isSanitized: isSanitized(store.model, field.name),
    isValid: validOf(store, field),
  }))
}

function rowFor({ model }: Store, slots: readonly Slot[], changes: Changes): Made | null {
  const row: unknown[] = []
  let isBlank = true
  for (const { field, kept, stamp, isSanitized, isValid } of slots) {
    const given: unknown = kept !== undefined ? kept : valueFor(model, field, changes.get(field.name))
    if (kept === undefined && !isSet(field, isSanitized, given)) return null
    if (!isValid(given)) return null
    const value = given ?? stamp ?? given
    if (given !== undefined && given !== null) isBlank = false
    row.push(isStored(field, value) ? value : undefined)
  }
  return { row, isBlank }
}

/** The client's value, else the model's: the key that nobody gives is null to an instance. */
function valueFor(model: Store['model'], { name, isKey }: Field, given: unknown): unknown {
  if (given !== undefined) return given
  const value = defaultOf(model, name)
  return value === undefined && isKey ? null : value
}

/** Whether an instance has a value as it is set. */
function isSet({ valueType }: Field, isSanitized: boolean, value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (isSanitized) return SANITIZED[valueType.type]?.(value) ?? false
  return typeof value !== 'object' || Buffer.isBuffer(value) || (valueType.type === 'json' && !isExpression(value))
}

/** What Sequelize's own types leave as it is, of those that mind what is set. */
const SANITIZED: { readonly [T in FieldType]?: (value: unknown) => boolean } = {
  boolean: (value) => typeof value === 'boolean',
  datetime: (value) => value instanceof Date,
  date: (value) => typeof value === 'string' && readDate(value) !== null,
}

/** Whether the model's validators would let a value of a field pass. */
function validOf(store: Store, { name }: Field): Test {
  const { resource, model } = store
  const isBounded = resource.bounded.some(({ attribute }) => attribute === name)
  if (resource.validation === 'rules') return (value) => !isBounded || !isTooLong(store, name, value)
  const passes = validatorsOf(model, name)
  const takesNull = resource.filled.includes(name) || !refusesNull(model, name)
  return (value) => {
    if (value === null || value === undefined) return takesNull
    return !(isBounded && isTooLong(store, name, value)) && passes(value)
  }
}

/** What one statement cannot create: see `isUneven` of instances. */
function isUneven({ resource: { fields, filled } }: Store, rows: readonly Made[]): boolean {
  if (rows.every(({ isBlank }) => isBlank)) return true
  return filled.some((name) => {
    const at = fields.findIndex((field) => field.name === name)
    const having = rows.filter(({ row }) => row[at] !== undefined).length
    return having > 0 && having < rows.length
  })
}

/**
 * The fields of rows that one statement inserts; a row that lacks one gets null. Null where some rows leave a key, or a column with
 * a default of the table's own, to the database and others do not, and where a row has no field at all.
 */
export function fieldsOf(
  { resource: { fields } }: Store,
  rows: readonly NewRow[],
  { hasDefault }: TableTraits,
): readonly Field[] | null {
  const having = fields.map((_, at) => rows.reduce((count, row) => (row[at] === undefined ? count : count + 1), 0))
  const isBroken = fields.some(({ isKey, assigned, column }, at) => {
    const isMade = isKey || assigned || hasDefault(column)
    return isMade && having[at] !== 0 && having[at] !== rows.length
  })
  const [first = []] = rows
  if (isBroken || first.every((value) => value === undefined)) return null
  return fields.filter((_, at) => having[at] !== 0)
}
