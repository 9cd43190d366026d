import type { Action } from '../../types/action.js'
import type { JsonSchema } from '../../types/openApi.js'
import { anyOf, listSchema, objectSchema } from '../codec/schema.js'
import { convertJoi, readMembers } from './joi.js'
import {
  jsonReply,
  minimalReply,
  notModifiedReply,
  type OperationEntry,
  type Replies,
  recordsReply,
  tagParameter,
  versionHeader,
  versionParameter,
} from './operations.js'
import { buildProjection } from './pages.js'
import { PREFER, selectParameter } from './parameters.js'
import type { HeaderName } from './problems.js'
import { buildItemSchema, buildRecordSchema } from './shapes.js'
import type { DescribedResource } from './subjects.js'

/** The document entry of an action: `publishPlayer` for a record, `publishPlayers` for the collection. */
export function createActionEntry(action: Action): OperationEntry {
  const { name, on, method, input, output } = action
  const words = name.replaceAll('_', ' ').replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
  const title = words.charAt(0).toUpperCase() + words.slice(1)
  const isRecord = on === 'record'
  const isRead = method === 'get'
  const selected = { record: 'response', list: 'list', none: null, value: null } as const
  const shape = selected[output]
  return {
    idAndSummary: isRecord ? [`${name}{one}`, `${title} one {one}`] : [`${name}{many}`, `${title} {many}`],
    parameters: (subject) => [
      ...(isRead && input !== null ? actionParameters(action) : []),
      ...(shape === null ? [] : [selectParameter(subject, shape)]),
      ...(isRecord && !isRead ? versionParameter(subject, true) : []),
      ...(isRead ? [PREFER.record, ...tagParameter(subject)] : [PREFER.write]),
    ],
    ...(isRead || input === null ? {} : { body: () => convertJoi(input) }),
    ...(input !== null && readMembers(input).every(({ isRequired }) => !isRequired) ? { isBodyOptional: true } : {}),
    replies: (subject) => actionReplies(subject, action),
  }
}

/** Query parameters of a GET action. An array is a repeated parameter. */
function actionParameters({ input }: Action): readonly JsonSchema[] {
  if (input === null) return []
  return readMembers(input).map(({ name, schema, isRequired }) => ({
    name,
    in: 'query',
    ...(isRequired ? { required: true } : {}),
    schema,
  }))
}

function actionReplies(subject: DescribedResource, { method, output, outputSchema }: Action): Replies {
  const isRead = method === 'get'
  const headers: readonly HeaderName[] = ['Preference-Applied', ...(output === 'record' ? versionHeader(subject) : [])]
  const tagged: readonly HeaderName[] = isRead ? [...new Set<HeaderName>([...headers, 'ETag'])] : headers
  const same = isRead ? notModifiedReply(subject, UNCHANGED_HEADERS) : {}
  const none: Replies = isRead && output !== 'none' ? {} : { 204: minimalReply(headers) }
  switch (output) {
    case 'none':
      return none
    case 'value':
      return {
        200: jsonReply('The result of the action.', outputSchema === null ? {} : convertJoi(outputSchema), tagged),
        ...same,
        ...none,
      }
    case 'list': {
      const itemsSchema = (): JsonSchema =>
        objectSchema({ items: listSchema(anyOf([buildItemSchema(subject), buildProjection(subject)])) })
      return {
        200: recordsReply(subject, 'The records. With `select`, only the selected fields.', itemsSchema, tagged),
        ...same,
        ...none,
      }
    }
    case 'record': {
      const recordSchema = (): JsonSchema => anyOf([buildRecordSchema(subject), buildProjection(subject)])
      return {
        200: recordsReply(subject, 'The record. With `select`, only the selected fields.', recordSchema, tagged),
        ...same,
        ...none,
      }
    }
  }
}

const UNCHANGED_HEADERS = ['ETag', 'Preference-Applied'] as const
