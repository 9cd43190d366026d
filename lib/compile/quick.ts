import type { Field, Value } from '../../types/field.js'
import { numberBounds } from './bounds.js'
import { readerOf } from './readers.js'

type Body = Readonly<Record<string, unknown>>

/** A value as joi would give it; undefined where it has something against it. */
type Taker = (raw: unknown) => Value | undefined

/**
 * The changes of a body in which nothing is wrong, by the same rules as joi's and at a fraction of its time; null where
 * something is, and joi has to say what.
 */
export function quickOf(
  fields: readonly Field[],
  isWanted: (field: Field) => boolean,
): (body: Body) => Map<string, Value> | null {
  const takers = fields.map((field) => ({
    name: field.name,
    json: field.json,
    wanted: isWanted(field),
    takesNull: takesNull(field),
    take: takerOf(field),
  }))
  return (body) => {
    const changes = new Map<string, Value>()
    for (const { name, json, wanted, takesNull, take } of takers) {
      // Nothing can be inherited.
      const raw = Object.hasOwn(body, json) ? body[json] : undefined
      if (raw === undefined) {
        if (wanted) return null
      } else if (raw === null) {
        if (!takesNull) return null
        changes.set(name, null)
      } else {
        const value = take(raw)
        if (value === undefined) return null
        changes.set(name, value)
      }
    }
    return changes
  }
}

/** Whether a body may have a null for a field. */
export function takesNull({ nullable, rules }: Field): boolean {
  return (nullable || rules.filled === true) && !rules.required
}

function takerOf(field: Field): Taker {
  const reader = readerOf(field)
  if (reader !== null) {
    return (raw) => {
      const reading = reader(raw)
      return 'value' in reading ? reading.value : undefined
    }
  }
  switch (field.valueType.type) {
    case 'integer':
      return numeric(field, Number.isInteger)
    case 'float':
      return numeric(field, Number.isFinite)
    case 'boolean':
      return (raw) => (typeof raw === 'boolean' ? raw : undefined)
    default: {
      const values: ReadonlySet<unknown> = new Set(field.valueType.values ?? [])
      return (raw) => (typeof raw === 'string' && values.has(raw) ? raw : undefined)
    }
  }
}

function numeric(field: Field, isOne: (raw: number) => boolean): Taker {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = numberBounds(field.valueType, field.rules)
  return (raw) => {
    if (typeof raw !== 'number' || !isOne(raw) || raw < min || raw > max) return undefined
    // No negative zero.
    return raw === 0 ? 0 : raw
  }
}
