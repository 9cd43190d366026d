import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Member, Projection } from '../../types/plan.js'
import type { JsonRecord } from '../../types/resource.js'
import { FLATTEN_LEVELS } from '../common/flatten.js'

/** A row as the record of the reply. */
export function recordOf({ members }: Projection, row: Row): JsonRecord {
  return membersOf(members, row)
}

function membersOf(members: readonly Member[], row: Row): JsonRecord {
  const record: JsonRecord = {}
  for (const member of members) {
    switch (member.kind) {
      case 'constant':
        record[member.json] = member.value
        break
      case 'value':
        record[member.json] = member.field.decode(row[member.index])
        break
      case 'nested':
        record[member.json] = isMissing(row[member.presence]) ? null : membersOf(member.members, row)
        break
      case 'flattened':
        spread(record, member.json, member.field.decode(row[member.index]), FLATTEN_LEVELS, members)
        break
    }
  }
  return record
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
