import type { Flattened, FlattenedMember } from '../../types/bound.js'
import type { Field } from '../../types/field.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { FLATTEN_LEVELS } from '../common/flatten.js'

type Shape = keyof Flattened['members']

/** What is flattened, by the resource's relations, which are others as soon as something has mounted. */
const kept = new WeakMap<ReadonlyMap<string, Relation>, readonly Flattened[]>()

const NOTHING: readonly Flattened[] = Object.freeze([])

/** The relations that are flattened into the records of a resource. */
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

/** What every resource behind a relation flattens, over relations that all of them let be crossed. */
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
