import type { Field } from '../../types/field.js'
import type { ModelAccess, Relation, Resource } from '../../types/resource.js'
import type { RelationStep } from '../../types/view.js'
import { FLATTEN_LEVELS } from '../common/flatten.js'
import { getOrCreate } from '../common/getOrCreate.js'

/** A relation whose fields become members of the record under joined names: `team` and `name` give `teamName`. */
export interface FlattenedRelation {
  readonly step: RelationStep
  readonly members: Readonly<Record<'response' | 'list', readonly FlattenedMember[]>>
  /** Flattened relations of the target. */
  readonly nested: readonly FlattenedRelation[]
}

interface FlattenedMember {
  readonly json: string
  readonly field: Field
}

type ShapeName = keyof FlattenedRelation['members']

/** Flattened relations, cached by the resource's relations, which are replaced when another resource is mounted. */
const flattenedByRelations = new WeakMap<ReadonlyMap<string, Relation>, readonly FlattenedRelation[]>()

const NOTHING: readonly FlattenedRelation[] = Object.freeze([])

/** Returns the relations that are flattened into the records of a resource. */
export function flattenedRelationsOf({ flatten, relations }: Resource): readonly FlattenedRelation[] {
  if (flatten.length === 0) return NOTHING
  const found = relations()
  return getOrCreate(flattenedByRelations, found, () =>
    flattenBelow({ names: flatten, relations: found, access: null }, '', {
      level: 0,
      taken: { response: new Set(), list: new Set() },
    }),
  )
}

/** Returns the resources whose records are flattened into records of this resource. */
export function flattenedResourcesOf(flattened: readonly FlattenedRelation[]): ReadonlySet<Resource> {
  return new Set(flattened.flatMap(({ step, nested }) => [...step.access.resources, ...flattenedResourcesOf(nested)]))
}

/**
 * Whether a flattened record may be hidden from some callers by a scope. A relation that a policy closes has masked
 * members instead.
 */
export function isFlattenedByCaller(resource: Resource): boolean {
  const flattened = flattenedResourcesOf(flattenedRelationsOf(resource))
  return [...flattened].some(({ behaviours }) => behaviours.resolveScope !== null)
}

interface FlattenSource {
  readonly names: readonly string[]
  readonly relations: ReadonlyMap<string, Relation>
  readonly access: ModelAccess | null
}

interface FlattenProgress {
  readonly level: number
  /** Names of the members so far. If several members have one name, the first member is in the record. */
  readonly taken: Readonly<Record<ShapeName, Set<string>>>
}

function flattenBelow(
  { names, relations, access: from }: FlattenSource,
  prefix: string,
  { level, taken }: FlattenProgress,
): readonly FlattenedRelation[] {
  if (level >= FLATTEN_LEVELS) return NOTHING
  const byName = new Map([...relations.values()].map((relation) => [relation.name, relation]))
  return names.flatMap((name) => {
    const relation = byName.get(name)
    const access = relation?.resolveTarget() ?? null
    if (relation === undefined || access === null) return []
    const start = joinNames(prefix, relation.json)
    const takeMembers = (shape: ShapeName): readonly FlattenedMember[] => {
      const members = flattenedMembersOf(access, shape, start).filter(({ json }) => !taken[shape].has(json))
      for (const { json } of members) taken[shape].add(json)
      return members
    }
    const members = { response: takeMembers('response'), list: takeMembers('list') }
    return [
      {
        step: { relation, access, from },
        members,
        nested: flattenBelow(flattenSourceOf(access), start, { level: level + 1, taken }),
      },
    ]
  })
}

/**
 * Returns the flattened relations of the resources behind a relation. A relation counts only if each of these resources
 * flattens it.
 */
function flattenSourceOf(access: ModelAccess): FlattenSource {
  const [first] = access.resources
  const isShared = (name: string): boolean => access.resources.every(({ flatten }) => flatten.includes(name))
  const names = first?.flatten.filter(isShared) ?? []
  return { names, relations: names.length === 0 ? new Map() : access.relations, access }
}

function flattenedMembersOf({ fields }: ModelAccess, shape: ShapeName, start: string): readonly FlattenedMember[] {
  const isShown = ({ targets, isKey, virtual }: Field): boolean => targets.has(shape) && !isKey && !virtual
  return [...fields.values()].filter(isShown).map((field) => ({ json: joinNames(start, field.json), field }))
}

function joinNames(prefix: string, name: string): string {
  return prefix === '' ? name : prefix + name.charAt(0).toUpperCase() + name.slice(1)
}

/** Flattened field under its joined name, with the relations that lead from the record to the field. */
export interface FlattenedAlias extends FlattenedMember {
  readonly steps: readonly RelationStep[]
}

type FlattenedAliases = ReadonlyMap<string, FlattenedAlias>

const NO_ALIASES: FlattenedAliases = new Map()

const aliasesByFlattened = new WeakMap<readonly FlattenedRelation[], FlattenedAliases>()

/**
 * Returns the flattened fields by lower-case joined name. `teamName` is an alias of `Team.Name`, unless a field has
 * that name.
 */
export function flattenedAliasesOf(resource: Resource): FlattenedAliases {
  const flattened = flattenedRelationsOf(resource)
  if (flattened.length === 0) return NO_ALIASES
  const known = aliasesByFlattened.get(flattened)
  if (known !== undefined) return known
  const aliases = new Map<string, FlattenedAlias>()
  for (const alias of collectAliases(flattened, [])) {
    const name = alias.json.toLowerCase()
    if (!resource.byName.has(name) && !aliases.has(name)) aliases.set(name, alias)
  }
  aliasesByFlattened.set(flattened, aliases)
  return aliases
}

function collectAliases(
  flattened: readonly FlattenedRelation[],
  before: readonly RelationStep[],
): readonly FlattenedAlias[] {
  return flattened.flatMap(({ step, members: { response, list }, nested }) => {
    const steps = [...before, step]
    const own = [...list, ...response].map((member) => ({ ...member, steps }))
    return [...own, ...collectAliases(nested, steps)]
  })
}
