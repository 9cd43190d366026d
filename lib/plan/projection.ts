import type { Field, JsonValue } from '../../types/field.js'
import type { Column, Hop, Member, Projection } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { columnOf, computedMember, countColumn } from '../common/columns.js'
import { NUMBERS } from '../common/values.js'
import { type Flattened, flattenedOf } from './flatten.js'

/** Collects the columns of a projection without duplicates. */
export class Columns {
  readonly list: Column[] = []
  readonly #known = new Map<Field, readonly Known[]>()

  /** Adds a column and returns its index. */
  add(hops: readonly Hop[], field: Field): number {
    return this.#add(columnOf(hops, field))
  }

  /** Adds the number of a collection's records and returns its index. */
  count(hops: readonly Hop[], hop: Hop): number {
    return this.#add(countColumn(hops, hop))
  }

  #add(column: Column): number {
    const { hops, field } = column
    const others = this.#known.get(field) ?? []
    const known = others.find((each) => isSame(each.hops, hops))
    if (known !== undefined) return known.index
    const index = this.list.push(column) - 1
    this.#known.set(field, [...others, { hops, index }])
    return index
  }
}

interface Known {
  readonly hops: readonly Hop[]
  readonly index: number
}

function isSame(one: readonly Hop[], other: readonly Hop[]): boolean {
  return one.length === other.length && one.every(({ relation }, index) => relation === other[index]?.relation)
}

type Shape = keyof Flattened['members']

/** Members of a full record: the fields of the shape and the flattened fields. */
export function fullProjection(resource: Resource, target: Shape, view: View): Projection {
  const hidden = view.hidden()
  const flattened = flattenedOf(resource)
  const whole = resource.whole[target]
  if (hidden.size === 0 && flattened.length === 0) return whole
  const columns = new Columns()
  const members = whole.members.map((member): Member => {
    if (!('field' in member)) return member
    const { json, field } = member
    if (hidden.has(field.name)) return { kind: 'constant', json, value: maskedValue(field) }
    return member.kind === 'computed' ? member : { ...member, index: columns.add([], field) }
  })
  for (const key of resource.keys) columns.add([], key)
  const names = new Set(members.map(({ json }) => json))
  const others = flatten(flattened, { target, view, columns }, [])
  members.push(...others.filter(({ json }) => !names.has(json)))
  const needing = members.map((member) =>
    member.kind === 'computed' ? computedMember(member.field, member.place, (each) => columns.add([], each)) : member,
  )
  return { columns: columns.list, members: needing, shown: new Set(indexesOf(needing)) }
}

/** Indexes of the columns that members use. */
export function indexesOf(members: readonly Member[]): readonly number[] {
  return members.flatMap((member) => {
    if ('members' in member) return indexesOf(member.members)
    return 'index' in member && member.kind !== 'many' ? [member.index] : []
  })
}

/** Value in place of one that the caller may not read: the default of the column's type. */
function maskedValue({ nullable, valueType, decode }: Field): JsonValue {
  if (nullable) return null
  if (NUMBERS.has(valueType.type)) return decode(0)
  return valueType.type === 'boolean' ? false : null
}

interface Assembly {
  readonly target: Shape
  readonly view: View
  readonly columns: Columns
}

/** Members of flattened relations. `hops` is null below a target that the caller may not list: all these members are null. */
function flatten(flattened: readonly Flattened[], assembly: Assembly, hops: readonly Hop[] | null): Member[] {
  const { target, view, columns } = assembly
  return flattened.flatMap(({ crossing, members, deeper }) => {
    const hop = view.cross(crossing)
    const path = hops === null || hop === null ? null : [...hops, hop]
    const own = members[target].map(({ json, field }): Member => {
      if (path === null) return { kind: 'constant', json, value: null }
      if (!view.readable(field, crossing.reach)) return { kind: 'constant', json, value: maskedValue(field) }
      return { kind: 'value', json, index: columns.add(path, field), field }
    })
    return [...own, ...flatten(deeper, assembly, path)]
  })
}
