import type { Row } from '../../types/outcome.js'
import type { Projection } from '../../types/plan.js'
import type { Content, JsonRecord, Reply } from '../../types/reply.js'
import type { Done, Shown } from '../../types/work.js'
import type { ShownRows } from './computed.js'
import { recordOf } from './record.js'

/** A reply with the nested records of its records, in the order of the bodies. */
export function withHeld(reply: Reply, done: Done): Reply {
  return done.held.length === 0 ? reply : { ...reply, content: contentWith(reply.content, done) }
}

function contentWith(content: Content, done: Done): Content {
  if (content.kind === 'record') return { ...content, value: filled(content.value, done, 0) }
  if (content.kind !== 'records') return content
  return { ...content, value: content.value.map((record, index) => filled(record, done, index)) }
}

function filled(record: JsonRecord, { held }: Done, index: number): JsonRecord {
  const own = held.filter(({ owner }) => owner === index)
  return { ...record, ...Object.fromEntries(own.map(({ json, value }) => [json, heldValue(value)])) }
}

function heldValue(value: Done['held'][number]['value']): JsonRecord[string] {
  if (value === null) return null
  if (isMany(value)) return value.map(shown)
  return 'done' in value ? shown(value) : [...value.keys]
}

function isMany(value: NonNullable<Done['held'][number]['value']>): value is readonly Shown[] {
  return Array.isArray(value)
}

/** The rows of the nested records of a reply. */
export function heldRows({ held }: Done): readonly ShownRows[] {
  return held.flatMap(({ value }): readonly ShownRows[] => {
    if (value === null) return []
    const all = isMany(value) ? value : 'done' in value ? [value] : []
    return all.flatMap((each) => [rowsOf(each), ...heldRows(within(each))])
  })
}

function rowsOf({ done, index }: Shown): ShownRows {
  return [projectionOf(done), [rowOf(done, index)]]
}

/** The result for one record. */
function within({ done, index }: Shown): Done {
  return { ...done, held: done.held.filter(({ owner }) => owner === index) }
}

function projectionOf({ work: { plan } }: Done): Projection {
  if (!('projection' in plan)) throw new TypeError(`a ${plan.kind} has no records`)
  return plan.projection
}

function shown({ done, index }: Shown): JsonRecord {
  return filled(recordOf(projectionOf(done), rowOf(done, index)), done, index)
}

function rowOf({ outcome }: Done, index: number): Row {
  const row = outcome.kind === 'record' ? outcome.row : outcome.kind === 'records' ? outcome.rows[index] : undefined
  if (row === undefined) throw new TypeError(`a ${outcome.kind} has no record ${index}`)
  return row
}
