import type { Field } from '../../types/field.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import type { Crossing } from '../../types/view.js'
import { FLATTEN_LEVELS } from '../common/flatten.js'

/** A relation whose fields become members of the record under joined names: `team` and `name` give `teamName`. */
export interface Flattened {
  readonly crossing: Crossing
  readonly members: Readonly<Record<'response' | 'list', readonly FlattenedMember[]>>
  /** Relations of the target that are flattened as well. */
  readonly deeper: readonly Flattened[]
}

interface FlattenedMember {
  readonly json: string
  readonly field: Field
}

type Shape = keyof Flattened['members']

/** Flattened relations, cached by the resource's relations. A later mount replaces the relations. */
const kept = new WeakMap<ReadonlyMap<string, Relation>, readonly Flattened[]>()

const NOTHING: readonly Flattened[] = Object.freeze([])

/** Relations that are flattened into the records of a resource. */
export function flattenedOf({ flatten, relations }: Resource): readonly Flattened[] {
  if (flatten.length === 0) return NOTHING
  const found = relations()
  const known = kept.get(found)
  if (known !== undefined) return known
  const flattened = below({ names: flatten, relations: found, reach: null }, '', 0)
  kept.set(found, flattened)
  return flattened
}

/** The resources whose records are flattened into the resource's own. */
export function flattenedResources(flattened: readonly Flattened[]): ReadonlySet<Resource> {
  return new Set(
    flattened.flatMap(({ crossing, deeper }) => [...crossing.reach.resources, ...flattenedResources(deeper)]),
  )
}

interface From {
  readonly names: readonly string[]
  readonly relations: ReadonlyMap<string, Relation>
  readonly reach: Reach | null
}

function below({ names, relations, reach: from }: From, prefix: string, level: number): readonly Flattened[] {
  if (level >= FLATTEN_LEVELS) return NOTHING
  const byName = new Map([...relations.values()].map((relation) => [relation.name, relation]))
  return names.flatMap((name) => {
    const relation = byName.get(name)
    const reach = relation?.reach() ?? null
    if (relation === undefined || reach === null) return []
    const start = joined(prefix, relation.json)
    const members = { response: membersOf(reach, 'response', start), list: membersOf(reach, 'list', start) }
    return [{ crossing: { relation, reach, from }, members, deeper: below(behind(reach), start, level + 1) }]
  })
}

/** Flattened relations of the resources behind a relation. Each of these resources must leave a relation open. */
function behind(reach: Reach): From {
  const [first] = reach.resources
  const isShared = (name: string): boolean => reach.resources.every(({ flatten }) => flatten.includes(name))
  const names = first?.flatten.filter(isShared) ?? []
  return { names, relations: names.length === 0 ? new Map() : reach.relations, reach }
}

function membersOf({ fields }: Reach, shape: Shape, start: string): readonly FlattenedMember[] {
  const isShown = ({ targets, isKey, virtual }: Field): boolean => targets.has(shape) && !isKey && !virtual
  return [...fields.values()].filter(isShown).map((field) => ({ json: joined(start, field.json), field }))
}

function joined(prefix: string, name: string): string {
  return prefix === '' ? name : prefix + name.charAt(0).toUpperCase() + name.slice(1)
}

/** A flattened field by its joined name, with the relations between the field and the record. */
export interface Alias extends FlattenedMember {
  readonly crossings: readonly Crossing[]
}

type Aliases = ReadonlyMap<string, Alias>

const NO_ALIASES: Aliases = new Map()

const keptAliases = new WeakMap<readonly Flattened[], Aliases>()

/** Flattened fields by their lower-case joined names. `teamName` is an alias of `Team.Name`, unless a field has that name. */
export function aliasesOf(resource: Resource): Aliases {
  const flattened = flattenedOf(resource)
  if (flattened.length === 0) return NO_ALIASES
  const known = keptAliases.get(flattened)
  if (known !== undefined) return known
  const aliases = new Map<string, Alias>()
  for (const alias of aliasesIn(flattened, [])) {
    const name = alias.json.toLowerCase()
    if (!resource.byName.has(name) && !aliases.has(name)) aliases.set(name, alias)
  }
  keptAliases.set(flattened, aliases)
  return aliases
}

function aliasesIn(flattened: readonly Flattened[], before: readonly Crossing[]): readonly Alias[] {
  return flattened.flatMap(({ crossing, members: { response, list }, deeper }) => {
    const crossings = [...before, crossing]
    const own = [...list, ...response].map((member) => ({ ...member, crossings }))
    return [...own, ...aliasesIn(deeper, crossings)]
  })
}
