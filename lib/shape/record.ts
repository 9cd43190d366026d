import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Embed, Member, Projection } from '../../types/plan.js'
import type { JsonRecord } from '../../types/reply.js'
import { EmbeddedRows } from '../common/embedded.js'
import { yieldToEventLoop } from '../common/eventLoop.js'
import { FLATTEN_LEVELS } from '../common/flatten.js'
import { internalError } from '../common/internalError.js'
import { isObject } from '../common/object.js'
import { type Visitors, visit } from '../common/visitor.js'
import { computedValue } from './computed.js'

/** Converts a row to a JSON record. Computed fields must already be resolved. */
export function toJsonRecord({ members, embeds = NONE }: JsonMembers, row: Row): JsonRecord {
  const record: JsonRecord = {}
  for (const member of members) {
    // Most members are plain values, which need no dispatch.
    if (member.kind === 'value') record[member.json] = member.field.decode(row[member.index])
    else visit(MEMBER_WRITERS, member, record, row, members, embeds)
  }
  return record
}

type JsonMembers = Pick<Projection, 'members' | 'embeds'>

const NONE: readonly Embed[] = Object.freeze([])

type WriterArguments = [record: JsonRecord, row: Row, members: readonly Member[], embeds: readonly Embed[]]

type OtherMember = Exclude<Member, { readonly kind: 'value' }>

const MEMBER_WRITERS: Visitors<OtherMember, WriterArguments, void> = {
  constant: (member, record, row) => {
    record[member.json] = constantValue(member, row)
  },
  computed: (member, record, row) => {
    record[member.json] = computedValue(row, member)
  },
  nested: ({ json, presence, members }, record, row, _, embeds) => {
    record[json] = (row[presence] ?? null) === null ? null : toJsonRecord({ members, embeds }, row)
  },
  many: ({ json, index }, record, row, _, embeds) => {
    // Embedded collections are the last elements of a row.
    const embedded = row[row.length - embeds.length + index]
    const projection = embeds[index]?.projection
    if (projection === undefined || !(embedded instanceof EmbeddedRows))
      throw internalError(`the records of the collection "${json}" were not read`)
    record[json] = embedded.records ?? embedded.rows.map((each) => toJsonRecord(projection, each))
    if (embedded.isTruncated) record[`${json}@more`] = true
  },
  object: ({ json, members }, record, row, _, embeds) => {
    record[json] = toJsonRecord({ members, embeds }, row)
  },
  flattened: ({ json, field, index }, record, row, members) =>
    spreadMembers(record, json, field.decode(row[index]), FLATTEN_LEVELS, members),
}

/** Returns the value of a masked field; null if the record with the field is missing. */
export function constantValue({ value, presence }: Extract<Member, { kind: 'constant' }>, row: Row): JsonValue {
  return presence === undefined || (row[presence] ?? null) !== null ? value : null
}

/** Adds the members of a JSON object to the record under joined names. Does not replace existing members. */
function spreadMembers(
  record: JsonRecord,
  name: string,
  value: JsonValue,
  levels: number,
  own: readonly Member[],
): void {
  if (levels > 0 && isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      spreadMembers(record, name + key.charAt(0).toUpperCase() + key.slice(1), inner, levels - 1, own)
    }
    return
  }
  if (value === null && levels === FLATTEN_LEVELS) return
  if (!own.some(({ json, kind }) => json === name && kind !== 'flattened')) record[name] = value
}

/** Maximum number of records that are built without yielding to the event loop. */
const RECORDS_BEFORE_YIELD = 2000

/** Builds the JSON records of collections, the innermost collections first. Yields to the event loop at intervals. */
export class CollectionBuilder {
  #count = 0

  async build({ embeds = [] }: Projection, rows: readonly Row[]): Promise<void> {
    for (const [index, { projection }] of embeds.entries()) {
      for (const row of rows) {
        const embedded = row[row.length - embeds.length + index]
        if (!(embedded instanceof EmbeddedRows) || embedded.rows.length === 0) continue
        if (projection.embeds !== undefined) await this.build(projection, embedded.rows)
        embedded.records = embedded.rows.map((each) => toJsonRecord(projection, each))
        this.#count += embedded.rows.length
        if (this.#count < RECORDS_BEFORE_YIELD) continue
        this.#count = 0
        await yieldToEventLoop()
      }
    }
  }
}
