import type { Aggregation, CollectionQuery, Intent, ListIntent } from '../../types/intent.js'
import type { FilterNode, HavingNode, Path } from '../../types/query.js'
import type { Relation, Resource } from '../../types/resource.js'
import type { RelationStep } from '../../types/view.js'
import { internalError } from '../common/internalError.js'
import { type Visitors, visit } from '../common/visitor.js'
import { type FlattenedRelation, flattenedRelationsOf, flattenedResourcesOf } from './flatten.js'
import { createRoot, type Root, resolvePath } from './path.js'
import { sortNodesOf } from './sort.js'

/** Whether a path continues over a relation. */
export type CanFollow = (step: RelationStep) => boolean

/**
 * Returns the other resources whose records a request reads: flattened resources, and resources behind relation paths
 * that `canFollow` allows. The order is filter, sort, select, aggregate, search.
 */
export function resourcesOnPaths(
  resource: Resource,
  intent: Intent,
  canFollow: CanFollow,
  link: Relation | null = null,
): Set<Resource> {
  const related = new Set(flattenedResources(resource, intent))
  walkPaths(createRoot(resource, link), intent, (step) => {
    if (!canFollow(step)) return false
    for (const each of resourcesOfStep(step)) related.add(each)
    return true
  })
  return related
}

/**
 * Walks the relations of a request: flattened relations first, followed by the relations of paths. A path ends where
 * `canFollow` returns false.
 */
export function walkRelations(root: Root, intent: Intent, canFollow: CanFollow): void {
  if (hasFullRecords(intent)) walkFlattened(flattenedRelationsOf(root.resource), canFollow)
  walkPaths(root, intent, canFollow)
}

function walkFlattened(flattened: readonly FlattenedRelation[], canFollow: CanFollow): void {
  for (const { step, nested } of flattened) if (canFollow(step)) walkFlattened(nested, canFollow)
}

/**
 * Returns the resources behind configured paths, which the client does not name: the default sort and the search
 * fields.
 */
export function configuredResources(resource: Resource, intent: Intent): readonly Resource[] {
  if (intent.kind !== 'list') return []
  const related: Resource[] = []
  const order = intent.sort === null ? sortNodesOf(resource, intent) : []
  for (const path of [...order.map((key) => key.path), ...searchPathsOf(resource, intent)]) {
    walkPath(createRoot(resource), path, (step) => {
      related.push(...resourcesOfStep(step))
      return true
    })
  }
  return related
}

/** Returns the resources to authorize for a path over a relation. */
export function resourcesOfStep({ relation, access }: Pick<RelationStep, 'relation' | 'access'>): readonly Resource[] {
  return [...access.resources, ...(relation.joinModel?.resources() ?? [])]
}

/** Returns the resources that are flattened into the records of the response. */
function flattenedResources(resource: Resource, intent: Intent): Iterable<Resource> {
  return hasFullRecords(intent) ? flattenedResourcesOf(flattenedRelationsOf(resource)) : []
}

/** Whether the response has full records with their flattened fields. */
function hasFullRecords(intent: Intent): boolean {
  if (intent.kind === 'list') return intent.mode !== 'count' && intent.mode !== 'aggregate' && intent.select === null
  if (intent.kind === 'get' || intent.kind === 'action') return intent.select === null
  return intent.kind !== 'upsert' && intent.kind !== 'delete' && intent.kind !== 'bulkDelete'
}

function walkPaths(root: Root, intent: Intent, canFollow: CanFollow): void {
  if (intent.kind !== 'list' && intent.kind !== 'get' && intent.kind !== 'action') return
  const { resource } = root
  if (intent.kind === 'list') {
    if (intent.filter !== null) walkFilter(intent.filter, root, canFollow)
    for (const { path } of sortNodesOf(resource, intent)) walkPath(root, path, canFollow)
  }
  if (intent.select !== null) {
    for (const path of intent.select) walkPath(root, path, canFollow)
    for (const shape of intent.collections) walkCollectionQuery(shape, root, canFollow)
  }
  if (intent.kind !== 'list') return
  const named = intent.aggregation === null ? [] : aggregatePathsOf(intent.aggregation)
  for (const path of [...named, ...searchPathsOf(resource, intent)]) walkPath(root, path, canFollow)
}

function walkCollectionQuery({ path, filter, sort }: CollectionQuery, root: Root, canFollow: CanFollow): void {
  const element = walkPath(root, { segments: path.split('.'), offset: 0 }, canFollow)
  if (element === null) return
  if (filter !== null) walkFilter(filter, element, canFollow)
  for (const key of sort ?? []) walkPath(element, key.path, canFollow)
}

function walkFilter(node: FilterNode, root: Root, canFollow: CanFollow): void {
  visit(FILTER_WALKERS, node, root, canFollow)
}

const FILTER_WALKERS: Visitors<FilterNode, [root: Root, crosses: CanFollow], void> = {
  and: ({ nodes }, root, canFollow) => {
    for (const node of nodes) walkFilter(node, root, canFollow)
  },
  or: ({ nodes }, root, canFollow) => {
    for (const node of nodes) walkFilter(node, root, canFollow)
  },
  comparison: ({ path }, root, canFollow) => {
    walkPath(root, path, canFollow)
  },
  quantified: ({ path, condition }, root, canFollow) => {
    const element = walkPath(root, path, canFollow)
    if (element !== null) walkFilter(condition, element, canFollow)
  },
}

/**
 * Returns the root of the records in the collection at the end of a path. Returns null for other paths, and for paths
 * that `canFollow` ends.
 */
function walkPath(root: Root, path: Path, canFollow: CanFollow): Root | null {
  const to = resolvePath(root, path, (step) => canFollow(step) || null)
  if (to.kind !== 'collection') return null
  const { element, word, rest, names } = to
  const named = names === null ? element : walkPath(element, names, canFollow)
  return word === null || rest === null ? named : walkPath(element, rest, canFollow)
}

/** Returns the paths of an aggregate, in the order of its parameters. */
function aggregatePathsOf({ measures, groups, having }: Aggregation): readonly Path[] {
  const compared = having === null ? [] : visit(HAVING_PATHS, having)
  return [...measures.flatMap(({ path }) => path ?? []), ...compared, ...groups.map(({ path }) => path)]
}

const HAVING_PATHS: Visitors<HavingNode, [], readonly Path[]> = {
  and: ({ nodes }) => nodes.flatMap((node) => visit(HAVING_PATHS, node)),
  or: ({ nodes }) => nodes.flatMap((node) => visit(HAVING_PATHS, node)),
  comparison: ({ path: { path } }) => (path === null ? [] : [path]),
  quantified: () => {
    throw internalError('the parameter "having" contains Any, All or None')
  },
}

function searchPathsOf({ search }: Resource, intent: ListIntent): readonly Path[] {
  return intent.search === null ? [] : (search?.paths ?? [])
}
