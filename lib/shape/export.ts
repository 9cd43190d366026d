import type { FieldType, JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { ExportPlan, Member } from '../../types/plan.js'
import type { Cell, ExportContent } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { type Visitors, visit } from '../common/visitor.js'
import { computedValue } from './computed.js'
import { constantValue, toJsonRecord } from './record.js'

/** Creates the content of an export, independent of the file format. */
export function createExportContent(
  { route, names, keepsFormulas }: Resource,
  { projection, format, isCounted }: ExportPlan,
  batches: AsyncIterable<readonly Row[]>,
): ExportContent {
  const name = (route.split('/').at(-1) || names.list).replace(/[^\w.-]/g, '_')
  const cells = createCells(projection.members)
  const hasCollections = projection.embeds !== undefined
  return {
    name,
    format,
    batches,
    record: (row) => toJsonRecord(projection, row),
    cells,
    hasCollections,
    isCounted,
    keepsFormulas,
  }
}

interface PositionedCell extends Cell {
  /** Position in `select`. */
  readonly place: number
}

/**
 * Creates one column per member with a value, in the order of `select`, or without `select` in the order of the shape.
 */
function createCells(members: readonly Member[]): readonly Cell[] {
  const isSelected = members.some(({ kind }) => kind === 'nested' || kind === 'object')
  const cells = nestedCells(members, '')
  return isSelected ? cells.toSorted((one, other) => one.place - other.place) : cells
}

const CELLS: Visitors<Member, [prefix: string], readonly PositionedCell[]> = {
  // The place of a constant is never used, because `select` cannot name a constant.
  constant: (member, prefix) => [
    { ...createCell(prefix, member.json, 'json'), place: 0, value: (row) => constantValue(member, row) },
  ],
  // A flattened member and the path of the same name read the same column at two places.
  value: ({ json, field, index, place = index }, prefix) => [
    { ...createCell(prefix, json, field.valueType.type), place, value: (row) => field.decode(row[index]) },
  ],
  flattened: ({ json, field, index }, prefix) => [
    { ...createCell(prefix, json, 'json'), place: index, value: (row): JsonValue => field.decode(row[index]) },
  ],
  computed: (member, prefix) => [
    {
      ...createCell(prefix, member.json, member.field.valueType.type),
      place: member.place,
      value: (row) => computedValue(row, member),
    },
  ],
  nested: ({ json, presence, members }, prefix) =>
    nestedCells(members, `${prefix}${json}.`).map((cell) => ({
      ...cell,
      // The fields of a missing record have no values. Computed fields are not even resolved.
      value: (row) => ((row[presence] ?? null) === null ? null : cell.value(row)),
    })),
  // A table cannot contain collections. The server rejects an export with collections before the database is read.
  many: () => [],
  object: ({ json, members }, prefix) => nestedCells(members, `${prefix}${json}.`),
}

function nestedCells(members: readonly Member[], prefix: string): readonly PositionedCell[] {
  return members.flatMap((member) => visit(CELLS, member, prefix))
}

function createCell(
  prefix: string,
  json: string,
  type: FieldType,
): { readonly name: string; readonly type: FieldType } {
  return { name: prefix + json, type }
}
