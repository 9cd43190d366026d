import type { Aggregation, Intent, ListIntent, Shape } from '../../types/intent.js'
import type { FilterNode, HavingNode, Path } from '../../types/query.js'
import type { Relation, Resource } from '../../types/resource.js'
import type { Crossing } from '../../types/view.js'
import { type Visits, visit } from '../common/visit.js'
import { type Flattened, flattenedOf, flattenedResources } from './flatten.js'
import { type Root, resolvePath, rootOf } from './path.js'
import { sortOf } from './sort.js'

/** Whether a path continues over a relation. */
export type Crosses = (crossing: Crossing) => boolean

/**
 * The other resources whose records a request reads: flattened resources, and resources behind relation paths, as far as `crosses` allows.
 * The order is filter, sort, select, aggregate, search.
 */
export function crossedResources(
  resource: Resource,
  intent: Intent,
  crosses: Crosses,
  link: Relation | null = null,
): Set<Resource> {
  const crossed = new Set(showsRecords(intent) ? flattenedResources(flattenedOf(resource)) : [])
  walkPaths(rootOf(resource, link), intent, (crossing) => {
    if (!crosses(crossing)) return false
    for (const each of resourcesOf(crossing)) crossed.add(each)
    return true
  })
  return crossed
}

/** Walks the relations of a request: flattened relations first, then the relations of its paths. `crosses` ends a path. */
export function walkRelations(root: Root, intent: Intent, crosses: Crosses): void {
  if (showsRecords(intent)) walkFlattened(flattenedOf(root.resource), crosses)
  walkPaths(root, intent, crosses)
}

function walkFlattened(flattened: readonly Flattened[], crosses: Crosses): void {
  for (const { crossing, deeper } of flattened) if (crosses(crossing)) walkFlattened(deeper, crosses)
}

/** Resources behind configured paths, which the client does not name: the default sort and the search fields. */
export function hostedResources(resource: Resource, intent: Intent): readonly Resource[] {
  if (intent.kind !== 'list') return []
  const crossed: Resource[] = []
  const order = intent.sort === null ? sortOf(resource, intent) : []
  for (const path of [...order.map((key) => key.path), ...searchedBy(resource, intent)]) {
    walkPath(rootOf(resource), path, (crossing) => {
      crossed.push(...resourcesOf(crossing))
      return true
    })
  }
  return crossed
}

/** Resources to authorize for a path over a relation. */
export function resourcesOf({ relation, reach }: Pick<Crossing, 'relation' | 'reach'>): readonly Resource[] {
  return [...reach.resources, ...(relation.link?.resources() ?? [])]
}

/** Whether the response has full records with their flattened fields. */
function showsRecords(intent: Intent): boolean {
  if (intent.kind === 'list') return intent.mode !== 'count' && intent.mode !== 'aggregate' && intent.select === null
  if (intent.kind === 'get' || intent.kind === 'action') return intent.select === null
  return intent.kind !== 'upsert' && intent.kind !== 'delete' && intent.kind !== 'bulkDelete'
}

function walkPaths(root: Root, intent: Intent, crosses: Crosses): void {
  if (intent.kind !== 'list' && intent.kind !== 'get' && intent.kind !== 'action') return
  const { resource } = root
  if (intent.kind === 'list') {
    if (intent.filter !== null) walkFilter(intent.filter, root, crosses)
    for (const { path } of sortOf(resource, intent)) walkPath(root, path, crosses)
  }
  if (intent.select !== null) {
    for (const path of intent.select) walkPath(root, path, crosses)
    for (const shape of intent.shapes) walkShape(shape, root, crosses)
  }
  if (intent.kind !== 'list') return
  const named = intent.aggregation === null ? [] : aggregatedBy(intent.aggregation)
  for (const path of [...named, ...searchedBy(resource, intent)]) walkPath(root, path, crosses)
}

function walkShape({ path, filter, sort }: Shape, root: Root, crosses: Crosses): void {
  const element = walkPath(root, { segments: path.split('.'), offset: 0 }, crosses)
  if (element === null) return
  if (filter !== null) walkFilter(filter, element, crosses)
  for (const key of sort ?? []) walkPath(element, key.path, crosses)
}

function walkFilter(node: FilterNode, root: Root, crosses: Crosses): void {
  visit(WALKED, node, root, crosses)
}

const WALKED: Visits<FilterNode, [root: Root, crosses: Crosses], void> = {
  and: ({ nodes }, root, crosses) => {
    for (const node of nodes) walkFilter(node, root, crosses)
  },
  or: ({ nodes }, root, crosses) => {
    for (const node of nodes) walkFilter(node, root, crosses)
  },
  comparison: ({ path }, root, crosses) => {
    walkPath(root, path, crosses)
  },
  quantified: ({ path, condition }, root, crosses) => {
    const element = walkPath(root, path, crosses)
    if (element !== null) walkFilter(condition, element, crosses)
  },
}

/** Root of the elements of the collection at the end of a path. Null for other paths, and for paths that `crosses` ends. */
function walkPath(root: Root, path: Path, crosses: Crosses): Root | null {
  const to = resolvePath(root, path, (crossing) => crosses(crossing) || null)
  if (to.kind !== 'collection') return null
  if (to.rest !== null) return walkPath(to.element, to.rest, crosses)
  return to.word === null ? to.element : null
}

/** Paths of an aggregate, in the order of its parameters. */
function aggregatedBy({ measures, groups, having }: Aggregation): readonly Path[] {
  const compared = having === null ? [] : visit(COMPARED, having)
  return [...measures.flatMap(({ path }) => path ?? []), ...compared, ...groups.map(({ path }) => path)]
}

const COMPARED: Visits<HavingNode, [], readonly Path[]> = {
  and: ({ nodes }) => nodes.flatMap((node) => visit(COMPARED, node)),
  or: ({ nodes }) => nodes.flatMap((node) => visit(COMPARED, node)),
  comparison: ({ path: { path } }) => (path === null ? [] : [path]),
  quantified: () => {
    throw new TypeError('measures have no quantifiers')
  },
}

function searchedBy({ search }: Resource, intent: ListIntent): readonly Path[] {
  return intent.search === null ? [] : (search?.paths ?? [])
}
