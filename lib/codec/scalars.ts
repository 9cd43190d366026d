import type { JsonValue } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { readUuid } from '../common/values.js'
import { jsonOf, textJson } from './anyJson.js'
import { type Codec, operand, textReader } from './codec.js'
import { booleanReader, enumReader } from './joi.js'

export const boolean: Codec = {
  body: booleanReader,
  text: (text) => operand(WORDS.get(text.toLowerCase()) ?? null),
  json: ({ loose }) => (loose === true ? looseBoolean : storedBoolean),
  noun: () => 'true or false',
  schemas: { reply: () => ({ type: 'boolean' }) },
  example: () => 'true',
}

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([...WORDS, ['t', true], ['1', true], ['f', false], ['0', false]])

/** Decodes a boolean of a numeric column. Texts, which SQLite may store there, are not booleans. */
function looseBoolean(raw: unknown): JsonValue {
  return typeof raw === 'string' && raw !== '1' && raw !== '0' ? null : storedBoolean(raw)
}

function storedBoolean(raw: unknown): JsonValue {
  switch (typeof raw) {
    case 'boolean':
      return raw
    case 'number':
    case 'bigint':
      return Number(raw) !== 0
    case 'string':
      return BOOLEANS.get(raw.toLowerCase()) ?? raw
    default:
      // BIT(1) is a buffer of one byte.
      return raw instanceof Uint8Array && raw.length === 1 ? raw[0] !== 0 : jsonOf(raw)
  }
}

export const enumeration: Codec = {
  body: enumReader,
  text: (text, { values = [] }) => operand(named(values, text)),
  json: () => textJson,
  noun: ({ values = [] }) => `one of ${values.join(', ')}`,
  kind: 'an enumeration',
  schemas: { reply: ({ values = [] }) => ({ type: 'string', enum: [...values] }) },
  example: ({ values: [first = ''] = [] }) => first,
}

/** The declared spelling of an enumeration value; the exact one if two differ only in case. */
function named(values: readonly string[], text: string): string | null {
  if (values.includes(text)) return text
  const word = text.toLowerCase()
  return values.find((value) => value.toLowerCase() === word) ?? null
}

const UUID: JsonSchema = { type: 'string', format: 'uuid' }

export const uuid: Codec = {
  body: () => textReader(readUuid, 'uuid'),
  text: (text) => operand(readUuid(text)),
  json: () => (raw) => (typeof raw === 'string' ? raw.toLowerCase() : textJson(raw)),
  noun: () => 'a UUID',
  schemas: {
    reply: () => UUID,
    body: () => ({ ...UUID, pattern: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' }),
  },
  example: () => '00000000-0000-4000-8000-000000000000',
}
