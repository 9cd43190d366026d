import type { JsonValue } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { readUuid } from '../common/values.js'
import { textToJson, toJson } from './anyJson.js'
import { type Codec, createTextReader, toFilterValue } from './codec.js'
import { createBooleanReader, createEnumReader } from './joi.js'

export const boolean: Codec = {
  createBodyReader: createBooleanReader,
  readText: (text) => toFilterValue(WORDS.get(text.toLowerCase()) ?? null),
  // A key stays text until it is compared.
  readKey: (text) => (WORDS.has(text) ? text : null),
  createDecoder: ({ isNumericBoolean }) => (isNumericBoolean === true ? decodeLooseBoolean : decodeBoolean),
  noun: () => 'true or false',
  schemas: { reply: () => ({ type: 'boolean' }) },
  example: () => 'true',
}

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([...WORDS, ['t', true], ['1', true], ['f', false], ['0', false]])

/** Decodes a boolean of a numeric column. SQLite may store texts there, which are not booleans. */
function decodeLooseBoolean(raw: unknown): JsonValue {
  return typeof raw === 'string' && raw !== '1' && raw !== '0' ? null : decodeBoolean(raw)
}

function decodeBoolean(raw: unknown): JsonValue {
  switch (typeof raw) {
    case 'boolean':
      return raw
    case 'number':
    case 'bigint':
      return Number(raw) !== 0
    case 'string':
      return BOOLEANS.get(raw.toLowerCase()) ?? raw
    default:
      // The drivers return BIT(1) as a buffer of one byte.
      return raw instanceof Uint8Array && raw.length === 1 ? raw[0] !== 0 : toJson(raw)
  }
}

export const enumeration: Codec = {
  createBodyReader: createEnumReader,
  readText: (text, { values = [] }) => toFilterValue(findEnumValue(values, text)),
  createDecoder: () => textToJson,
  noun: ({ values = [] }) => `one of ${values.join(', ')}`,
  kind: 'an enumeration',
  schemas: { reply: ({ values = [] }) => ({ type: 'string', enum: [...values] }) },
  example: ({ values: [first = ''] = [] }) => first,
}

/**
 * Returns the declared spelling of an enumeration value. If two values differ only in case, only an exact match counts.
 */
function findEnumValue(values: readonly string[], text: string): string | null {
  if (values.includes(text)) return text
  const word = text.toLowerCase()
  return values.find((value) => value.toLowerCase() === word) ?? null
}

const UUID: JsonSchema = { type: 'string', format: 'uuid' }

export const uuid: Codec = {
  createBodyReader: () => createTextReader(readUuid, 'uuid'),
  readText: (text) => toFilterValue(readUuid(text)),
  createDecoder: () => (raw) => (typeof raw === 'string' ? raw.toLowerCase() : textToJson(raw)),
  noun: () => 'a UUID',
  schemas: {
    reply: () => UUID,
    body: () => ({ ...UUID, pattern: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' }),
  },
  example: () => '00000000-0000-4000-8000-000000000000',
}
