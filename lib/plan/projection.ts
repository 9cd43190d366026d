import type { Field, FieldType, JsonValue } from '../../types/field.js'
import type { Column, Hop, Member, Projection, View } from '../../types/plan.js'
import type { Path } from '../../types/query.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { type Context, unknownField } from './context.js'
import { columnOf, FLATTEN_LEVELS, follow } from './path.js'

/** Gathers the columns of a projection, each once. */
class Columns {
  readonly list: Column[] = []
  readonly #indexes = new Map<Field, number[]>()

  /** The index of a column. */
  add(hops: readonly Hop[], field: Field): number {
    const indexes = this.#indexes.get(field) ?? []
    const known = indexes.find((index) => isSame(this.list[index]?.hops ?? [], hops))
    if (known !== undefined) return known
    this.list.push(columnOf(hops, field))
    this.#indexes.set(field, [...indexes, this.list.length - 1])
    return this.list.length - 1
  }
}

function isSame(one: readonly Hop[], other: readonly Hop[]): boolean {
  return one.length === other.length && one.every(({ relation }, index) => relation === other[index]?.relation)
}

type Shape = 'response' | 'list'

const kept = new WeakMap<Resource, BoundedCache<string, Projection>>()

/** There are as many as sets of masked fields that callers come with. */
function cacheOf(resource: Resource): BoundedCache<string, Projection> {
  const known = kept.get(resource)
  if (known !== undefined) return known
  const weigh = (key: string, { columns, members }: Projection): number =>
    bytesOf(key) + 200 * (columns.length + members.length)
  const cache = new BoundedCache({ entries: 500, bytes: 2 ** 20, weigh })
  kept.set(resource, cache)
  return cache
}

/** The members of a full record: the fields of the shape, and what is flattened into them. */
export function fullProjection(resource: Resource, target: Shape, view: View): Projection {
  const hidden = resource.fields.filter((field) => !view.readable(field, null))
  // What is flattened depends on what is mounted, and on the caller in more ways than the record's own fields do.
  if (resource.flatten.length > 0) return assemble(resource, target, hidden, view)
  const cache = cacheOf(resource)
  const key = [target, ...hidden.map((field) => resource.fields.indexOf(field))].join(' ')
  const known = cache.get(key)
  if (known !== undefined) return known
  const projection = assemble(resource, target, hidden, null)
  cache.set(key, projection)
  return projection
}

/** Without a view, nothing is flattened: what is kept for all callers can look at nothing that one of them may see. */
function assemble(resource: Resource, target: Shape, hidden: readonly Field[], view: View | null): Projection {
  const columns = new Columns()
  const members: Member[] = []
  for (const field of resource.fields) {
    if (!field.targets.has(target)) continue
    if (hidden.includes(field)) {
      members.push({ kind: 'constant', json: field.json, value: maskedValue(field) })
    } else {
      const kind = resource.flatten.includes(field.name) ? 'flattened' : 'value'
      members.push({ kind, json: field.json, index: columns.add([], field), field })
    }
  }
  // Locations and cursors need the key, whether or not the shape has it.
  columns.add([], resource.key)
  const flattened = view === null ? [] : flatten(resource, { target, view, columns }, [], '')
  const names = new Set(members.map(({ json }) => json))
  members.push(...flattened.filter(({ json }) => !names.has(json)))
  return { columns: columns.list, members }
}

const ZEROS: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'decimal', 'float'])

/** What stands for a value that the caller may not read: the default of the column's type. */
function maskedValue({ nullable, valueType, decode }: Field): JsonValue {
  if (nullable) return null
  if (ZEROS.has(valueType.type)) return decode(0)
  return valueType.type === 'boolean' ? false : null
}

interface Assembly {
  readonly target: Shape
  readonly view: View
  readonly columns: Columns
}

/**
 * The fields of flattened relations under joined names: `team` and `name` give `teamName`. `hops` is null below a target
 * that the caller may not list, where all of them are null.
 */
function flatten(
  { flatten: names, relations }: Pick<Resource, 'flatten' | 'relations'>,
  assembly: Assembly,
  hops: readonly Hop[] | null,
  prefix: string,
  from: Reach | null = null,
  level = 0,
): Member[] {
  if (level >= FLATTEN_LEVELS) return []
  const { target, view, columns } = assembly
  return names.flatMap((name) => {
    const relation = [...relations().values()].find((candidate) => candidate.name === name)
    const reach = relation?.reach() ?? null
    if (relation === undefined || reach === null) return []
    const hop = hops === null ? null : view.cross(relation, reach, from)
    const path = hops === null || hop === null ? null : [...hops, hop]
    const own = [...reach.fields.values()]
      .filter(({ targets, isKey, virtual }) => targets.has(target) && !isKey && !virtual)
      .map((field): Member => {
        const json = joined(prefix, relation, field)
        if (path === null) return { kind: 'constant', json, value: null }
        if (!view.readable(field, reach)) return { kind: 'constant', json, value: maskedValue(field) }
        return { kind: 'value', json, index: columns.add(path, field), field }
      })
    const deeper = flatten(behind(reach), assembly, path, joinedPrefix(prefix, relation), reach, level + 1)
    return [...own, ...deeper]
  })
}

/** What every resource behind a relation flattens, over relations that all of them let be crossed. */
function behind({ resources, relations }: Reach): Pick<Resource, 'flatten' | 'relations'> {
  const [first] = resources
  const names = first?.flatten.filter((name) => resources.every((resource) => resource.flatten.includes(name))) ?? []
  return { flatten: names, relations: () => relations }
}

function joined(prefix: string, relation: Relation, field: Field): string {
  const start = joinedPrefix(prefix, relation)
  return start + capitalised(field.json)
}

function joinedPrefix(prefix: string, { json }: Relation): string {
  return prefix === '' ? json : prefix + capitalised(json)
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

interface Branch {
  readonly kind: 'branch'
  readonly members: Map<string, Branch | Member>
  readonly hops: readonly Hop[]
}

/**
 * Only what `select` names. What is masked for the caller is left out silently; the rest is an unknown field.
 *
 * @throws Problem `unknown-field`
 */
export function selectProjection(context: Context, select: readonly Path[]): Projection {
  const columns = new Columns()
  const root: Branch = { kind: 'branch', members: new Map(), hops: [] }
  for (const path of select) {
    const place = { parameter: 'select', offset: path.offset }
    const destination = follow(context, context.root, path.segments, place)
    if (destination?.kind !== 'field' || !destination.field.targets.has('list')) {
      if (context.unknownFields === 'ignore') continue
      throw unknownField('select', path.segments.join('.'), path.offset)
    }
    const { hops, field, reach } = destination
    if (!context.view.readable(field, reach)) continue
    context.tally.path(context.root, hops, place)
    const branch = branchOf(root, hops)
    const member: Member = { kind: 'value', json: field.json, index: columns.add(hops, field), field }
    branch.members.set(field.json, member)
  }
  const members = membersOf(root, columns)
  return { columns: columns.list, members }
}

function branchOf(root: Branch, hops: readonly Hop[]): Branch {
  let branch = root
  for (const [index, { relation }] of hops.entries()) {
    const known = branch.members.get(relation.json)
    const next: Branch =
      known?.kind === 'branch' ? known : { kind: 'branch', members: new Map(), hops: hops.slice(0, index + 1) }
    branch.members.set(relation.json, next)
    branch = next
  }
  return branch
}

function membersOf({ members }: Branch, columns: Columns): Member[] {
  return [...members].map(([json, member]) => {
    if (member.kind !== 'branch') return member
    const presence = member.hops.at(-1)?.relation.reach()?.presence
    if (presence === undefined) throw new TypeError(`the selected relation ${json} has no key`)
    return { kind: 'nested', json, presence: columns.add(member.hops, presence), members: membersOf(member, columns) }
  })
}
