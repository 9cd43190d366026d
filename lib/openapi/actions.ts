import type { Action } from '../../types/action.js'
import type { JsonSchema } from '../../types/openApi.js'
import { anyOf, arrayOf, objectOf } from '../codec/schema.js'
import { joiSchema, membersOf } from './joi.js'
import {
  json,
  minimal,
  type OperationEntry,
  type Replies,
  records,
  tagParameter,
  unchanged,
  versionHeader,
  versionParameter,
} from './operations.js'
import { projectionOf } from './pages.js'
import { PREFER, selectParameter } from './parameters.js'
import type { HeaderName } from './problems.js'
import { itemOf, recordOf } from './shapes.js'
import type { Subject } from './subjects.js'

/** The document entry of an action: `publishPlayer` for a record, `publishPlayers` for the collection. */
export function actionEntry(action: Action): OperationEntry {
  const { name, on, method, input, output } = action
  const words = name.replaceAll('_', ' ').replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
  const title = words.charAt(0).toUpperCase() + words.slice(1)
  const isRecord = on === 'record'
  const isRead = method === 'get'
  const selected = { record: 'response', list: 'list', none: null, value: null } as const
  const shape = selected[output]
  return {
    named: isRecord ? [`${name}{one}`, `${title} one {one}`] : [`${name}{many}`, `${title} {many}`],
    parameters: (subject) => [
      ...(isRead && input !== null ? parametersOf(action) : []),
      ...(shape === null ? [] : [selectParameter(subject, shape)]),
      ...(isRecord && !isRead ? versionParameter(subject, true) : []),
      ...(isRead ? [PREFER.record, ...tagParameter(subject)] : [PREFER.write]),
    ],
    ...(isRead || input === null ? {} : { body: () => joiSchema(input) }),
    ...(input !== null && membersOf(input).every(({ isRequired }) => !isRequired) ? { isBodyOptional: true } : {}),
    replies: (subject) => repliesOf(subject, action),
  }
}

/** Query parameters of a GET action. An array is a repeated parameter. */
function parametersOf({ input }: Action): readonly JsonSchema[] {
  if (input === null) return []
  return membersOf(input).map(({ name, schema, isRequired }) => ({
    name,
    in: 'query',
    ...(isRequired ? { required: true } : {}),
    schema,
  }))
}

function repliesOf(subject: Subject, { method, output, value }: Action): Replies {
  const isRead = method === 'get'
  const headers: readonly HeaderName[] = ['Preference-Applied', ...(output === 'record' ? versionHeader(subject) : [])]
  const tagged: readonly HeaderName[] = isRead ? [...new Set<HeaderName>([...headers, 'ETag'])] : headers
  const same = isRead ? unchanged(subject, UNCHANGED_HEADERS) : {}
  const none: Replies = isRead && output !== 'none' ? {} : { 204: minimal(headers) }
  switch (output) {
    case 'none':
      return none
    case 'value':
      return {
        200: json('The result of the action.', value === null ? {} : joiSchema(value), tagged),
        ...same,
        ...none,
      }
    case 'list': {
      const items = (): JsonSchema => objectOf({ items: arrayOf(anyOf([itemOf(subject), projectionOf(subject)])) })
      return {
        200: records(subject, 'The records. With `select`, only the selected fields.', items, tagged),
        ...same,
        ...none,
      }
    }
    case 'record': {
      const schema = (): JsonSchema => anyOf([recordOf(subject), projectionOf(subject)])
      return {
        200: records(subject, 'The record. With `select`, only the selected fields.', schema, tagged),
        ...same,
        ...none,
      }
    }
  }
}

const UNCHANGED_HEADERS = ['ETag', 'Preference-Applied'] as const
