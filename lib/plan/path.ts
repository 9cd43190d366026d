import type { Field } from '../../types/field.js'
import type { Join } from '../../types/plan.js'
import type { Path, Quantifier } from '../../types/query.js'
import type { ModelAccess, Relation, Resource } from '../../types/resource.js'
import type { RelationStep } from '../../types/view.js'
import { invalidQuery } from '../common/problem.js'
import type { Context } from './context.js'
import { type FlattenedAlias, flattenedAliasesOf } from './flatten.js'
import type { QueryPosition } from './queryCost.js'

/**
 * Start of a path, which determines where its names are looked up: in the resource itself, or in the records behind a
 * relation.
 */
export interface Root {
  readonly resource: Resource
  /** Accessible fields behind a relation. null for the resource itself. */
  readonly access: ModelAccess | null
  /** Number of further relations that a path may cross. */
  readonly remainingRelations: number
  /** Number of collections that enclose paths from this root. */
  readonly collections: number
  /** Relation to the join model's row that links a record to its parent. null for a relation without a join model. */
  readonly joinRow: Relation | null
}

export function createRoot(resource: Resource, link: Relation | null = null): Root {
  return { resource, access: null, remainingRelations: resource.limits.pathDepth, collections: 0, joinRow: link }
}

/** Returns the fields that the names at this root can refer to. */
export function fieldsOfRoot({ resource, access }: Root): readonly Field[] {
  return access === null ? [...resource.fields, ...resource.computed] : [...access.fields.values()]
}

interface PathSteps<H> {
  /** The to-one relations that the path crosses before its end. */
  readonly steps: readonly RelationStep[]
  /** One join for each of `steps`. */
  readonly joins: readonly H[]
  /** Root of the last name of the path. null if the path ended earlier. */
  readonly lastRoot: Root | null
}

/**
 * Path to a field. `access` is null for a field of the resource itself. `flattened` is the joined name of a flattened
 * field.
 */
interface FieldEnd<H> extends PathSteps<H> {
  readonly kind: 'field'
  readonly field: Field
  readonly access: ModelAccess | null
  readonly flattened: string | null
}

/** Path to a collection, with an optional quantifier. The remaining path starts at `element`. */
interface CollectionEnd<H> extends PathSteps<H> {
  readonly kind: 'collection'
  readonly step: RelationStep
  readonly join: H
  readonly word: Quantifier | null
  readonly rest: Path | null
  /** The remaining path if the quantifier is a name. `select` has no quantifiers. */
  readonly names: Path | null
  readonly element: Root
}

/** Path to the items of an array of scalars, with a quantifier. */
interface ItemsEnd<H> extends PathSteps<H> {
  readonly kind: 'items'
  /** The attribute, or the member of a JSON document, that contains the array. */
  readonly field: Field
  readonly item: Field
  readonly access: ModelAccess | null
  readonly word: Quantifier
}

/** Path to a relation, to all fields of a relation (`*`), or to a name that is unknown to the caller. */
interface OtherEnd<H> extends PathSteps<H> {
  readonly kind: 'relation' | 'every' | 'unknown'
}

export type ResolvedPath<H> = FieldEnd<H> | ItemsEnd<H> | CollectionEnd<H> | OtherEnd<H>

/** Resolved path whose joins contain only records that the caller may see. */
export type Destination = ResolvedPath<Join>

/**
 * Follows a relation. `remaining` is the number of relations that the path may still cross. Returns null to end the path.
 */
type JoinStep<H> = (step: RelationStep, remaining: number) => H | null

const QUANTIFIERS: ReadonlyMap<string, Quantifier> = new Map([
  ['any', 'any'],
  ['all', 'all'],
  ['none', 'none'],
  ['count', 'count'],
])

/** Last segment of a path in `select` that selects every field. */
const EVERY = '*'

/**
 * Resolves the names of a path, segment by segment, up to its end or its first collection. Also follows one relation
 * beyond the limit, so that `resolveForCaller` can report the exceeded limit.
 */
export function resolvePath<H>(root: Root, { segments, offset }: Path, joinStep: JoinStep<H>): ResolvedPath<H> {
  const steps: RelationStep[] = []
  const joins: H[] = []
  let [from, at]: [Root, Root | null] = [root, null]
  for (let index = 0; index < segments.length; index += 1) {
    const segment = segments[index] ?? ''
    at = index === segments.length - 1 ? from : null
    const way = { steps, joins, lastRoot: at }
    const field = findField(from, segments, index)
    if (field !== undefined) return { ...way, kind: 'field', field, access: from.access, flattened: null }
    const items = findItems(from, segments, index)
    if (items !== null) return { ...way, kind: 'items', ...items, access: from.access }
    const alias =
      segments.length === 1 && from.access === null
        ? flattenedAliasesOf(from.resource).get(segment.toLowerCase())
        : undefined
    if (alias !== undefined) return resolveAlias(from, alias, joinStep)
    if (segment === EVERY) return { ...way, kind: 'every' }
    const step = findStep(from, segment)
    const join = step === null ? null : joinStep(step, from.remainingRelations)
    if (step === null || join === null) return { ...way, kind: 'unknown' }
    if (step.relation.many) {
      const rest = { segments: segments.slice(index + 1), offset }
      return {
        ...way,
        kind: 'collection',
        step,
        join,
        ...readQuantifier(rest),
        element: elementRootOf(from, step, 1),
      }
    }
    steps.push(step)
    joins.push(join)
    from = elementRootOf(from, step, 0)
  }
  return { kind: 'relation', steps, joins, lastRoot: at }
}

/** Returns the field at the end of a path: a field of the root, or a declared member of a JSON document. */
function findField({ resource, access }: Root, segments: readonly string[], index: number): Field | undefined {
  const field = (access?.fields ?? resource.byName).get(lookupNameOf(access, segments[index] ?? ''))
  if (index === segments.length - 1) return field
  const within = segments.slice(index + 1).join('.')
  return field?.members?.get(within.toLowerCase())
}

/** Returns the array items at the end of a path with a quantifier, or null for other paths. */
function findItems(
  root: Root,
  segments: readonly string[],
  index: number,
): Pick<ItemsEnd<never>, 'field' | 'item' | 'word'> | null {
  if (index === segments.length - 1) return null
  const word = QUANTIFIERS.get(segments.at(-1)?.toLowerCase() ?? '')
  if (word === undefined) return null
  const field = findField(root, segments.slice(0, -1), index)
  return field?.item === undefined ? null : { field, item: field.item, word }
}

/** Resolves a flattened field by its joined name. */
function resolveAlias<H>(root: Root, { steps, field, json }: FlattenedAlias, joinStep: JoinStep<H>): ResolvedPath<H> {
  const joins: H[] = []
  for (const [index, step] of steps.entries()) {
    const join = joinStep(step, root.remainingRelations - index)
    if (join === null) return { kind: 'unknown', steps, joins, lastRoot: root }
    joins.push(join)
  }
  const access = steps.at(-1)?.access ?? null
  return { kind: 'field', steps, joins, lastRoot: root, field, access, flattened: json }
}

function findStep({ resource, access: from, remainingRelations, joinRow }: Root, name: string): RelationStep | null {
  if (remainingRelations < 0) return null
  const relations = from === null ? resource.relations() : from.relations
  const word = lookupNameOf(from, name)
  const relation = relations.get(word) ?? (joinRow?.json.toLowerCase() === word ? joinRow : undefined)
  const access = relation?.resolveTarget() ?? null
  return relation === undefined || access === null ? null : { relation, access, from }
}

/** Returns the form of a name that is used for lookups. */
function lookupNameOf(access: ModelAccess | null, name: string): string {
  return access?.isCaseSensitive ? name : name.toLowerCase()
}

function elementRootOf(
  { resource, remainingRelations, collections }: Root,
  { relation, access }: RelationStep,
  many: number,
): Root {
  // Only conditions of the host have case-sensitive names. These conditions reach rows of the join model by
  // associations of Sequelize instead.
  const link = access.isCaseSensitive ? null : (relation.joinModel?.joinRow() ?? null)
  return {
    resource,
    access,
    remainingRelations: remainingRelations - 1,
    collections: collections + many,
    joinRow: link,
  }
}

/**
 * Splits the path behind a collection into a quantifier and the following names. A quantifier takes precedence over a
 * field or relation of that name.
 */
function readQuantifier(path: Path): Pick<CollectionEnd<never>, 'word' | 'rest' | 'names'> {
  const { segments, offset } = path
  const word = QUANTIFIERS.get(segments[0]?.toLowerCase() ?? '') ?? null
  const names = segments.length === 0 ? null : path
  if (word === null) return { word, rest: names, names }
  return { word, rest: segments.length === 1 ? null : { segments: segments.slice(1), offset }, names }
}

/**
 * Resolves a path for the caller of a request.
 * @throws Problem if the path crosses too many relations
 */
export function resolveForCaller(
  { view }: Context,
  root: Root,
  path: Path,
  { parameter, offset }: QueryPosition,
): Destination {
  return resolvePath(root, path, (step, remaining) => {
    const join = view.join(step)
    if (join === null || remaining > 0) return join
    const maximum = `${root.resource.limits.pathDepth} (pathDepth)`
    throw invalidQuery(parameter, `at position ${offset} has a path over more relations than the limit of ${maximum}.`)
  })
}
