// JSON Schemas of the tools' answers.

import type { JSONObject } from '@modelcontextprotocol/server'

/** JSON Schema of an answer. Every answer is an object. */
export interface OutputSchema extends JSONObject {
  type: 'object'
}

const TEXT_LIST: JSONObject = { type: 'array', items: { type: 'string' } }
const RECORD_LIST: JSONObject = { type: 'array', items: { type: 'object' } }
const ALWAYS_TRUE: JSONObject = { type: 'boolean', const: true }

function objectSchema(properties: JSONObject, required: string[] = Object.keys(properties)): OutputSchema {
  return { type: 'object', properties, required }
}

const VERSION_SCHEMA: JSONObject = {
  type: ['integer', 'string'],
  description: 'The version of the record, for the next write. Absent if records have no versions.',
}

export const RESOURCES_OUTPUT: OutputSchema = objectSchema({
  resources: { type: 'array', items: objectSchema({ name: { type: 'string' }, tools: TEXT_LIST }) },
})

export const RESOURCE_OUTPUT: OutputSchema = objectSchema(
  {
    name: { type: 'string' },
    tools: TEXT_LIST,
    key: {
      type: 'object',
      description: 'The name and type of the key. Absent if the resource has a single record for you.',
    },
    versions: { type: 'boolean', description: 'Whether records have versions.' },
    fields: RECORD_LIST,
    relations: RECORD_LIST,
    actions: RECORD_LIST,
    bodies: { type: 'object', description: 'JSON Schemas of `values` for create and update.' },
  },
  ['name', 'tools', 'versions', 'fields', 'relations'],
)

export const RECORDS_OUTPUT: OutputSchema = objectSchema(
  {
    items: RECORD_LIST,
    totalCount: {
      type: 'integer',
      minimum: 0,
      description: 'The number of all matching records. Only on the first page.',
    },
    nextCursor: { type: ['string', 'null'], description: 'The cursor of the next page, or null on the last page.' },
    more: {
      ...ALWAYS_TRUE,
      description: 'There are more records, but this sort order has no cursors. Sort by another field.',
    },
  },
  ['items', 'nextCursor'],
)

export const RECORD_OUTPUT: OutputSchema = objectSchema({ record: { type: 'object' }, version: VERSION_SCHEMA }, [
  'record',
])

const TOO_LARGE_SCHEMA: JSONObject = {
  ...ALWAYS_TRUE,
  description: 'The write is done, but its answer was too large. Read the record with get_record and select.',
}

export const WRITTEN_OUTPUT: OutputSchema = objectSchema(
  { record: { type: 'object' }, version: VERSION_SCHEMA, tooLarge: TOO_LARGE_SCHEMA },
  ['record'],
)

export const DELETED_OUTPUT: OutputSchema = objectSchema({ deleted: ALWAYS_TRUE })

/** Schema of an action's answer. The answer's members depend on the action's `output`. */
export const ACTION_OUTPUT: OutputSchema = objectSchema(
  {
    record: { type: 'object' },
    version: VERSION_SCHEMA,
    items: { type: 'array' },
    more: { ...ALWAYS_TRUE, description: 'The action returned more items than the limit.' },
    value: {},
    done: ALWAYS_TRUE,
    tooLarge: TOO_LARGE_SCHEMA,
  },
  [],
)
