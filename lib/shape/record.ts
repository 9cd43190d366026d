import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Member, Projection } from '../../types/plan.js'
import type { JsonRecord } from '../../types/reply.js'
import { FLATTEN_LEVELS } from '../common/flatten.js'
import { type Visits, visit } from '../common/visit.js'

/** A row as the record of the reply. */
export function recordOf({ members }: Projection, row: Row): JsonRecord {
  return membersOf(members, row)
}

function membersOf(members: readonly Member[], row: Row): JsonRecord {
  const record: JsonRecord = {}
  for (const member of members) visit(WRITTEN, member, record, row, members)
  return record
}

const WRITTEN: Visits<Member, [record: JsonRecord, row: Row, members: readonly Member[]], void> = {
  constant: ({ json, value }, record) => {
    record[json] = value
  },
  value: ({ json, field, index }, record, row) => {
    record[json] = field.decode(row[index])
  },
  nested: ({ json, presence, members }, record, row) => {
    record[json] = isMissing(row[presence]) ? null : membersOf(members, row)
  },
  flattened: ({ json, field, index }, record, row, members) =>
    spread(record, json, field.decode(row[index]), FLATTEN_LEVELS, members),
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined
}

/** Puts the members of a JSON object into the record under joined names; the record's own members stay. */
function spread(record: JsonRecord, name: string, value: JsonValue, levels: number, own: readonly Member[]): void {
  if (levels > 0 && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) {
      spread(record, name + key.charAt(0).toUpperCase() + key.slice(1), inner, levels - 1, own)
    }
    return
  }
  if (value === null && levels === FLATTEN_LEVELS) return
  if (!own.some(({ json, kind }) => json === name && kind !== 'flattened')) record[name] = value
}
