import type Joi from 'joi'
import type { MessageCode, Told } from '../../types/messages.js'
import { fault } from '../common/messages.js'
import { numberBounds } from './bounds.js'
import type { Reader, RuledField } from './codec.js'

// Part of the schema: passing them on every call would cost three quarters of the speed.
const SETTINGS: Joi.ValidationOptions = {
  abortEarly: false,
  convert: false,
  errors: { label: false, wrap: { label: false }, stack: false },
}

let loaded: typeof Joi | null = null

/**
 * Loads joi on demand. It is a third of the import time of this package, and resources that only read do not need it.
 */
export async function loadJoi(): Promise<void> {
  loaded ??= (await import('joi')).default
}

function joi(): typeof Joi {
  if (loaded === null) throw new TypeError('a body came before its rules were loaded')
  return loaded
}

export function integerReader(field: RuledField): Reader {
  return numeric(joi().number().integer(), field, 'integer')
}

export function floatReader(field: RuledField): Reader {
  return numeric(joi().number(), field, 'number')
}

export function booleanReader(): Reader {
  return readBy(joi().boolean(), { 'boolean.base': fault('boolean') })
}

export function enumReader({ valueType: { values = [] } }: RuledField): Reader {
  return readBy(joi().valid(...values), { 'any.only': fault('enum', { values: Object.freeze([...values]) }) })
}

function numeric(numbers: Joi.NumberSchema, field: RuledField, otherwise: MessageCode): Reader {
  const { min, max, tooLow, tooHigh } = numberBounds(field)
  // joi's own error about unsafe numbers would replace the messages of the bounds.
  let schema = numbers.unsafe()
  if (min !== undefined) schema = schema.min(min)
  if (max !== undefined) schema = schema.max(max)
  return readBy(schema, {
    'number.base': fault(otherwise),
    'number.integer': fault(otherwise),
    'number.infinity': fault('finite'),
    'number.min': tooLow,
    'number.max': tooHigh,
  })
}

/** Messages are kept outside the schema, because joi would merge them into its settings on every validation. */
function readBy(schema: Joi.Schema, messages: Readonly<Record<string, Told>>): Reader {
  const settled = schema.prefs(SETTINGS)
  return (raw) => {
    const { error, value } = settled.validate(raw)
    if (error === undefined) return { value }
    return { faults: error.details.map(({ type, message }) => messages[type] ?? message) }
  }
}
