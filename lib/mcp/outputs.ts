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
  description: 'The version of the record, for the next write. Absent if records have none.',
}

export const RESOURCES_OUTPUT: OutputSchema = objectOf({
  resources: { type: 'array', items: objectOf({ name: { type: 'string' }, tools: TEXTS }) },
})

export const RESOURCE_OUTPUT: OutputSchema = objectOf(
  {
    name: { type: 'string' },
    tools: TEXTS,
    key: { type: 'object', description: 'The name and the type of the key. Absent if you have one record.' },
    versions: { type: 'boolean', description: 'Whether records have a version.' },
    fields: RECORDS,
    relations: RECORDS,
    actions: RECORDS,
    bodies: { type: 'object', description: 'JSON Schemas of `values`, by create and update.' },
  },
  ['name', 'tools', 'versions', 'fields', 'relations'],
)

export const RECORDS_OUTPUT: OutputSchema = objectOf(
  {
    items: RECORDS,
    totalCount: {
      type: 'integer',
      minimum: 0,
      description: 'The number of all records that the filter matches: in the first page.',
    },
    nextCursor: { type: ['string', 'null'], description: 'The cursor of the next page; null on the last one.' },
    more: { ...TRUE, description: 'There are more records, and no cursor in this order: sort by another field.' },
  },
  ['items', 'nextCursor'],
)

export const RECORD_OUTPUT: OutputSchema = objectOf({ record: { type: 'object' }, version: VERSION }, ['record'])

const TOO_LARGE: JSONObject = {
  ...TRUE,
  description: 'The write is done. Its answer was too large: read the record by get_record with select.',
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
    more: { ...TRUE, description: 'The action answered more items than an answer has.' },
    value: {},
    done: TRUE,
    tooLarge: TOO_LARGE,
  },
  [],
)
