import type { JSONObject } from '@modelcontextprotocol/server'
import { isObject } from '../common/object.js'
import { isPathSegment } from '../common/pathSegment.js'
import { invalidQuery } from '../common/problem.js'
import { didYouMean } from '../config/suggest.js'

/** Arguments of a tool call. Each tool uses some of them. */
export interface Arguments {
  readonly resource?: string
  readonly action?: string
  readonly key?: string
  readonly input?: Readonly<Record<string, unknown>>
  readonly values?: Readonly<Record<string, unknown>>
  /** A string of digits. */
  readonly version?: string
  readonly filter?: string
  readonly sort?: string
  readonly select?: string
  readonly limit?: number
  readonly cursor?: string
}

export type ArgumentName = keyof Arguments

interface ArgumentRow {
  /** The JSON Schema that clients receive. */
  readonly schema: JSONObject
  /** Reads a value. Returns undefined if the value is invalid. */
  readonly read: (value: unknown) => Arguments[ArgumentName]
  readonly requirement: string
}

const textArgument = (description: string): ArgumentRow => ({
  schema: { type: 'string', description },
  read: (value) => (typeof value === 'string' ? Buffer.from(value).toString() : undefined),
  requirement: 'must be text.',
})

const isIntegerFrom = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least

/** Definitions of all arguments, by name. */
const ARGUMENTS: { readonly [name in ArgumentName]-?: ArgumentRow } = {
  resource: textArgument('A name from list_resources.'),
  action: textArgument('The name of an action from describe_resource.'),
  input: {
    schema: { type: 'object', description: 'The input of the action. describe_resource has its schema.' },
    read: (value) => (isObject(value) ? { ...value } : undefined),
    requirement: 'must be an object.',
  },
  key: {
    schema: {
      type: ['string', 'integer'],
      description: 'The key of the record. A composite key joins its parts with "~": "7~2".',
    },
    read: (value) => {
      if (typeof value === 'string') return isPathSegment(value) ? Buffer.from(value).toString() : undefined
      return Number.isSafeInteger(value) ? String(value) : undefined
    },
    requirement: 'must be a whole number, or a text other than "", "." and "..".',
  },
  values: {
    schema: { type: 'object', description: 'The fields of the record by name. describe_resource has their schema.' },
    read: (value) => (isObject(value) ? { ...value } : undefined),
    requirement: 'must be an object.',
  },
  version: {
    schema: { type: ['integer', 'string'], description: 'The version from get_record, if records have versions.' },
    read: (value) => {
      if (typeof value === 'string' && /^\d{1,19}$/.test(value)) return value
      return isIntegerFrom(value, 0) ? String(value) : undefined
    },
    requirement: 'must be a whole number.',
  },
  filter: textArgument(
    'Clauses "field operator value", joined by "," (and) and "|" (or), grouped by "( )": Name^Jan,Level>=20,(Score!=1|Team.Name=Lakers). Operators: = != > < >= <= =in= =out= ^ $ =* and more; describe_resource lists those of each field. Do not quote values: quotes are part of the value. "/i" after a value ignores case, null tests for null, "\\" escapes , | ( ) ; /. Collections: Players.Any(Level>50), Players.Count>=2.',
  ),
  sort: textArgument('Fields joined by ",". A leading "-" sorts descending: "-level,name,team.name".'),
  select: textArgument(
    'Fields joined by ",". "*" selects all fields, "team.name" and "players(name,level)" fields of related records.',
  ),
  limit: {
    schema: { type: 'integer', minimum: 1, description: 'Maximum number of records.' },
    read: (value) => (isIntegerFrom(value, 1) ? value : undefined),
    requirement: 'must be a whole number from 1.',
  },
  cursor: textArgument('The nextCursor of the previous page. Repeat the same filter, sort and select.'),
}

/** JSON Schema of a tool's arguments, as in the result of `tools/list`. */
export interface ArgumentsSchema {
  [keyword: string]: unknown
  type: 'object'
  properties: JSONObject
  required: string[]
}

/** Builds the JSON Schema of a tool's arguments. */
export function createArgumentsSchema(
  required: readonly ArgumentName[],
  optional: readonly ArgumentName[],
): ArgumentsSchema {
  const names = [...required, ...optional]
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, ARGUMENTS[name].schema])),
    required: [...required],
    additionalProperties: false,
  }
}

/** Reads the arguments of a call. @throws Problem `invalid-query` for an unknown, missing or invalid argument */
export function readArguments(
  given: Readonly<Record<string, unknown>>,
  required: readonly ArgumentName[],
  optional: readonly ArgumentName[],
): Arguments {
  const taken: readonly string[] = [...required, ...optional]
  const unknown = Object.keys(given).find((name) => !taken.includes(name))
  if (unknown !== undefined) {
    const name = unknown.slice(0, 50)
    throw invalidQuery(name, `is not an argument of this tool.${didYouMean(name, taken)}`)
  }
  const missing = required.find((name) => given[name] === undefined || given[name] === null)
  if (missing !== undefined) throw invalidQuery(missing, 'is missing.')
  const read = [...required, ...optional].flatMap((name) => {
    const value = given[name]
    if (value === undefined || value === null) return []
    const { read: reader, requirement } = ARGUMENTS[name]
    const parsed = reader(value)
    if (parsed === undefined) throw invalidQuery(name, requirement)
    return [[name, parsed]]
  })
  return Object.fromEntries(read)
}
