import type { Field, JsonValue } from '../../types/field.js'
import type { Column, Join, Member, Projection } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { columnOf, countColumn, createComputedMember, optionalField } from '../common/columns.js'
import { NUMBERS } from '../common/values.js'
import { type FlattenedRelation, flattenedRelationsOf } from './flatten.js'

/** Collects the columns of a projection without duplicates. */
export class ColumnList {
  readonly list: Column[] = []
  readonly #indexes = new Map<Field, readonly KnownColumn[]>()

  /** Adds a column and returns its index. */
  add(joins: readonly Join[], field: Field): number {
    return this.#append(columnOf(joins, field))
  }

  /** Adds the number of a collection's records and returns its index. */
  addCount(joins: readonly Join[], counted: Join): number {
    return this.#append(countColumn(joins, counted))
  }

  #append(column: Column): number {
    const { joins, field } = column
    const others = this.#indexes.get(field) ?? []
    const known = others.find((each) => hasSameJoins(each.joins, joins))
    if (known !== undefined) return known.index
    const index = this.list.push(column) - 1
    this.#indexes.set(field, [...others, { joins, index }])
    return index
  }
}

interface KnownColumn {
  readonly joins: readonly Join[]
  readonly index: number
}

function hasSameJoins(one: readonly Join[], other: readonly Join[]): boolean {
  return one.length === other.length && one.every(({ relation }, index) => relation === other[index]?.relation)
}

type ShapeName = keyof FlattenedRelation['members']

/** Creates the projection of a full record: the fields of the shape and the flattened fields. */
export function fullProjection(resource: Resource, target: ShapeName, view: View): Projection {
  const hidden = view.hidden()
  const flattened = flattenedRelationsOf(resource)
  const whole = resource.unmaskedProjections[target]
  if (hidden.size === 0 && flattened.length === 0) return whole
  const columns = new ColumnList()
  const members = whole.members.map((member): Member => {
    if (!('field' in member)) return member
    const { json, field } = member
    if (hidden.has(field.name)) return { kind: 'constant', json, value: maskedValue(field) }
    return member.kind === 'computed' ? member : { ...member, index: columns.add([], field) }
  })
  for (const key of resource.keys) columns.add([], key)
  const names = new Set(members.map(({ json }) => json))
  const others = createFlattenedMembers(flattened, { target, view, columns }, [])
  members.push(...others.filter(({ json }) => !names.has(json)))
  const needing = members.map((member) =>
    member.kind === 'computed'
      ? createComputedMember(member.field, member.place, (each) => columns.add([], each))
      : member,
  )
  const masked = needing.flatMap(({ kind, json }) => (kind === 'constant' ? [json] : []))
  return { columns: columns.list, members: needing, readableColumns: new Set(columnIndexesOf(needing)), masked }
}

/** Returns the indexes of the columns that members use. */
export function columnIndexesOf(members: readonly Member[]): readonly number[] {
  return members.flatMap((member) => {
    if ('members' in member) return columnIndexesOf(member.members)
    return 'index' in member && member.kind !== 'many' ? [member.index] : []
  })
}

/** Returns the substitute for a masked value: null, or the default of the type if the column is not nullable. */
function maskedValue({ nullable, valueType, decode }: Field): JsonValue {
  if (nullable) return null
  if (NUMBERS.has(valueType.type)) return decode(0)
  return valueType.type === 'boolean' ? false : null
}

interface FlattenTarget {
  readonly target: ShapeName
  readonly view: View
  readonly columns: ColumnList
}

/**
 * Creates the members of flattened relations. If `joins` is null, the caller may not follow a relation on the path, and
 * all members are null.
 */
function createFlattenedMembers(
  flattened: readonly FlattenedRelation[],
  assembly: FlattenTarget,
  joins: readonly Join[] | null,
): Member[] {
  const { target, view, columns } = assembly
  return flattened.flatMap(({ step, members, nested }) => {
    const join = view.join(step)
    const path = joins === null || join === null ? null : [...joins, join]
    const own = members[target].map(({ json, field }): Member => {
      if (path === null) return { kind: 'constant', json, value: null }
      if (view.readable(field, step.access))
        return { kind: 'value', json, index: columns.add(path, field), field: optionalField(field) }
      const value = maskedValue(field)
      if (value === null) return { kind: 'constant', json, value }
      return { kind: 'constant', json, value, presence: columns.add(path, step.access.presenceField) }
    })
    return [...own, ...createFlattenedMembers(nested, assembly, path)]
  })
}
