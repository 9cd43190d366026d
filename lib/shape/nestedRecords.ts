import type { Row } from '../../types/outcome.js'
import type { Projection } from '../../types/plan.js'
import type { JsonRecord, Reply } from '../../types/reply.js'
import type { ResultRecord, WriteResult } from '../../types/work.js'
import { internalError } from '../common/internalError.js'
import type { ShownRows } from './computed.js'
import { toJsonRecord } from './record.js'

/** Adds the nested records to the records of a reply, in the order of the bodies. */
export function addNestedRecords(reply: Reply, done: WriteResult): Reply {
  const { content } = reply
  if (done.nested.length === 0) return reply
  if (content.kind === 'record')
    return { ...reply, content: { ...content, value: addToRecord(content.value, done, 0) } }
  if (content.kind !== 'records') return reply
  const value = content.value.map((record, index) => addToRecord(record, done, index))
  return { ...reply, content: { ...content, value } }
}

function addToRecord(record: JsonRecord, { nested }: WriteResult, index: number): JsonRecord {
  const own = nested.filter(({ parentIndex }) => parentIndex === index)
  return { ...record, ...Object.fromEntries(own.map(({ json, value }) => [json, nestedValueOf(value)])) }
}

function nestedValueOf(value: WriteResult['nested'][number]['value']): JsonRecord[string] {
  if (value === null) return null
  if (isCollection(value)) return value.map(resultToJson)
  return 'result' in value ? resultToJson(value) : [...value.keys]
}

function isCollection(value: NonNullable<WriteResult['nested'][number]['value']>): value is readonly ResultRecord[] {
  return Array.isArray(value)
}

/** Returns the rows of the nested records of a reply. */
export function nestedRowsOf({ nested }: WriteResult): readonly ShownRows[] {
  return nested.flatMap(({ value }): readonly ShownRows[] => {
    if (value === null) return []
    const all = isCollection(value) ? value : 'result' in value ? [value] : []
    return all.flatMap(({ result, index }): readonly ShownRows[] => [
      [projectionOfResult(result), [rowOfResult(result, index)]],
      ...nestedRowsOf({ ...result, nested: result.nested.filter(({ parentIndex }) => parentIndex === index) }),
    ])
  })
}

function projectionOfResult({ work: { plan } }: WriteResult): Projection {
  if (!('projection' in plan)) throw internalError(`a plan of kind "${plan.kind}" has no fields for the response`)
  return plan.projection
}

function resultToJson({ result, index }: ResultRecord): JsonRecord {
  return addToRecord(toJsonRecord(projectionOfResult(result), rowOfResult(result, index)), result, index)
}

function rowOfResult({ outcome }: WriteResult, index: number): Row {
  const row = outcome.kind === 'record' ? outcome.row : outcome.kind === 'records' ? outcome.rows[index] : undefined
  if (row === undefined)
    throw internalError(`the result of a write, of kind "${outcome.kind}", has no record with the number ${index}`)
  return row
}
