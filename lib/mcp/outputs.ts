// JSON Schemas of the tools' answers.

import type { JSONObject } from '@modelcontextprotocol/server'

/** Schema of an answer. Answers are objects. */
export interface OutputSchema extends JSONObject {
  type: 'object'
}

const TEXTS: JSONObject = { type: 'array', items: { type: 'string' } }
const RECORDS: JSONObject = { type: 'array', items: { type: 'object' } }
const TRUE: JSONObject = { type: 'boolean', const: true }

function objectOf(properties: JSONObject, required: string[] = Object.keys(properties)): OutputSchema {
  return { type: 'object', properties, required }
}

const VERSION: JSONObject = {
  type: ['integer', 'string'],
  description: 'The version of the record, for the next write. Absent if records have no versions.',
}

export const RESOURCES_OUTPUT: OutputSchema = objectOf({
  resources: { type: 'array', items: objectOf({ name: { type: 'string' }, tools: TEXTS }) },
})

export const RESOURCE_OUTPUT: OutputSchema = objectOf(
  {
    name: { type: 'string' },
    tools: TEXTS,
    key: {
      type: 'object',
      description: 'The name and type of the key. Absent if the resource has a single record for you.',
    },
    versions: { type: 'boolean', description: 'Whether records have versions.' },
    fields: RECORDS,
    relations: RECORDS,
    actions: RECORDS,
    bodies: { type: 'object', description: 'JSON Schemas of `values` for create and update.' },
  },
  ['name', 'tools', 'versions', 'fields', 'relations'],
)

export const RECORDS_OUTPUT: OutputSchema = objectOf(
  {
    items: RECORDS,
    totalCount: {
      type: 'integer',
      minimum: 0,
      description: 'The number of all matching records. Only on the first page.',
    },
    nextCursor: { type: ['string', 'null'], description: 'The cursor of the next page, or null on the last page.' },
    more: {
      ...TRUE,
      description: 'There are more records, but this sort order has no cursors. Sort by another field.',
    },
  },
  ['items', 'nextCursor'],
)

export const RECORD_OUTPUT: OutputSchema = objectOf({ record: { type: 'object' }, version: VERSION }, ['record'])

const TOO_LARGE: JSONObject = {
  ...TRUE,
  description: 'The write is done, but its answer was too large. Read the record with get_record and select.',
}

export const WRITTEN_OUTPUT: OutputSchema = objectOf(
  { record: { type: 'object' }, version: VERSION, tooLarge: TOO_LARGE },
  ['record'],
)

export const DELETED_OUTPUT: OutputSchema = objectOf({ deleted: TRUE })

/** The answer of an action. Its members depend on the action's `output`. */
export const ACTION_OUTPUT: OutputSchema = objectOf(
  {
    record: { type: 'object' },
    version: VERSION,
    items: { type: 'array' },
    more: { ...TRUE, description: 'The action returned more items than the limit.' },
    value: {},
    done: TRUE,
    tooLarge: TOO_LARGE,
  },
  [],
)
