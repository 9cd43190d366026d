import type { FieldType, LongestTime, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'

const WHOLE_TEXT: JsonSchema = { type: 'string', pattern: '^-?[0-9]+$' }
const DECIMAL_TEXT: JsonSchema = { type: 'string', pattern: '^-?[0-9]+(?:\\.[0-9]+)?$' }

/** How the values of a type stand in replies. No rules: rows from before them keep none, and neither do masked values. */
const REPLIES: Readonly<Record<FieldType, (valueType: ValueType) => JsonSchema>> = {
  string: () => ({ type: 'string' }),
  integer: (valueType) => ({ type: 'integer', format: integerFormat(valueType) }),
  bigint: () => ({ anyOf: [{ type: 'integer', format: 'int64' }, WHOLE_TEXT] }),
  decimal: ({ wire }) => (wire === 'number' ? { type: 'number', format: 'double' } : DECIMAL_TEXT),
  float: () => ({ type: 'number', format: 'double' }),
  boolean: () => ({ type: 'boolean' }),
  datetime: ({ anyYear }) => dated({ type: 'string', format: 'date-time' }, anyYear, 'T.*Z'),
  date: ({ anyYear }) => dated({ type: 'string', format: 'date' }, anyYear, ''),
  time: ({ longest }) => ({
    type: 'string',
    pattern: `^${hoursOf(longest)}:[0-9]{2}:[0-9]{2}$`,
    examples: ['08:30:00'],
  }),
  uuid: () => ({ type: 'string', format: 'uuid' }),
  enum: ({ values = [] }) => ({ type: 'string', enum: [...values] }),
  json: () => ({ description: 'Any JSON.' }),
  blob: () => ({ type: 'string', contentEncoding: 'base64' }),
}

/** Years beyond four digits, and before the year 1, are those of ISO 8601's expanded form. */
function dated(usual: JsonSchema, anyYear: boolean | undefined, clock: string): JsonSchema {
  return anyYear === true
    ? { anyOf: [usual, { type: 'string', pattern: `^[+-][0-9]{6}-[0-9]{2}-[0-9]{2}${clock}$` }] }
    : usual
}

function hoursOf(longest: LongestTime | undefined): string {
  return longest?.isSigned === true ? '-?[0-9]{2,3}' : '[0-9]{2}'
}

const INT32 = 2n ** 31n - 1n

/** What an integer fits into, whatever the column's bounds. */
export function integerFormat({ max }: ValueType): 'int32' | 'int64' {
  return max !== undefined && max <= INT32 ? 'int32' : 'int64'
}

/** The schema of a value of that type in a reply, null left out. */
export function replyOf(valueType: ValueType): JsonSchema {
  return REPLIES[valueType.type](valueType)
}
