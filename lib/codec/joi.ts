import type Joi from 'joi'
import type { FieldMessage, MessageCode } from '../../types/messages.js'
import { internalError } from '../common/internalError.js'
import { createMessage } from '../common/messages.js'
import { numberBounds } from './bounds.js'
import type { Reader, RuledField } from './codec.js'

// The settings are part of the schema. Passing them on every call would cost three quarters of the speed.
const SETTINGS: Joi.ValidationOptions = {
  abortEarly: false,
  convert: false,
  errors: { label: false, wrap: { label: false }, stack: false },
}

let loadedJoi: typeof Joi | null = null

/** Loads joi on demand. It takes a third of the import time of this package, and read-only resources do not need it. */
export async function loadJoi(): Promise<void> {
  loadedJoi ??= (await import('joi')).default
}

function requireJoi(): typeof Joi {
  if (loadedJoi === null) throw internalError('a request body was validated before joi was loaded')
  return loadedJoi
}

export function createIntegerReader(field: RuledField): Reader {
  return createNumberReader(requireJoi().number().integer(), field, 'integer')
}

export function createFloatReader(field: RuledField): Reader {
  return createNumberReader(requireJoi().number(), field, 'number')
}

export function createBooleanReader(): Reader {
  return createReader(requireJoi().boolean(), { 'boolean.base': createMessage('boolean') })
}

export function createEnumReader({ valueType: { values = [] } }: RuledField): Reader {
  return createReader(requireJoi().valid(...values), {
    'any.only': createMessage('enum', { values: Object.freeze([...values]) }),
  })
}

function createNumberReader(numbers: Joi.NumberSchema, field: RuledField, otherwise: MessageCode): Reader {
  const { min, max, tooLow, tooHigh } = numberBounds(field)
  // joi's own check of unsafe numbers would replace the messages of the bounds.
  let schema = numbers.unsafe()
  if (min !== undefined) schema = schema.min(min)
  if (max !== undefined) schema = schema.max(max)
  return createReader(schema, {
    'number.base': createMessage(otherwise),
    'number.integer': createMessage(otherwise),
    'number.infinity': createMessage('finite'),
    'number.min': tooLow,
    'number.max': tooHigh,
  })
}

/**
 * Creates a reader from a schema. Messages are kept outside the schema, because joi would merge them into its settings
 * on every validation.
 */
function createReader(schema: Joi.Schema, messages: Readonly<Record<string, FieldMessage>>): Reader {
  const settled = schema.prefs(SETTINGS)
  return (raw) => {
    const { error, value } = settled.validate(raw)
    if (error === undefined) return { value }
    return { messages: error.details.map(({ type, message }) => messages[type] ?? message) }
  }
}
