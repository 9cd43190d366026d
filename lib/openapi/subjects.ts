import type { ApiDocsOptions, DocumentOptions } from '../../types/openApi.js'
import type { Relation, Resource } from '../../types/resource.js'
import type { ShapeNames } from '../../types/settings.js'
import { resourceOf } from '../compile/mounted.js'
import { typeName } from '../compile/names.js'
import { resourceOfRouter } from '../compile/relatedResource.js'
import { createUnknownNameError } from '../config/suggest.js'
import { builtInOperationEntries } from '../operations.js'
import { singularize } from '../sequelize/plurals.js'
import { Components, invalidOption } from './components.js'
import { assertDistinctResourceNames, createNamer, type Names } from './names.js'

export const DOCUMENT_OPTIONS: readonly (keyof DocumentOptions)[] = [
  'resources',
  'info',
  'servers',
  'security',
  'version',
]
export const API_DOCS_OPTIONS: readonly (keyof ApiDocsOptions)[] = [...DOCUMENT_OPTIONS, 'path', 'ui']

/**
 * Checks the options of a document. @throws CrudConfigError for unknown options, and for an `info` without title or
 * version
 */
export function assertOptions(
  options: Pick<DocumentOptions, 'resources' | 'info'>,
  maker: string,
  names: readonly string[],
): void {
  const given: unknown = options
  if (given === undefined || given === null) throw invalidOption(`${maker}: options are missing.`)
  // Routers are functions, so this check rejects a router passed as the options.
  if (typeof given !== 'object' || Array.isArray(given))
    throw invalidOption(`${maker}: the argument must be an object with "resources" and "info".`)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) throw createUnknownNameError('UNKNOWN_OPTION', `${maker}: the option`, unknown, names)
  const { info, version: openApi = '3.1' } = Object(given)
  if (openApi !== '3.1' && openApi !== '3.2') {
    throw invalidOption(
      `${maker}: version must be "3.1" or "3.2", the version of OpenAPI. The version of your API belongs in info.version.`,
    )
  }
  const { title, version } = Object(info)
  if (typeof title === 'string' && typeof version === 'string') return
  throw invalidOption(`${maker}: info must be an object with the texts "title" and "version".`)
}

/** A resource in a document, with its names and paths. Comments and parameters call it the subject. */
export interface DescribedResource {
  readonly resource: Resource
  readonly names: Names
  /** Mount path in the form of documents: `/tenants/{tenant}`. */
  readonly mountPath: string
  /** Path of the collection. */
  readonly path: string
  readonly components: Components
  /** Returns the subject of another resource. If the resource has several mounts, the subject has this mount path. */
  readonly subjectOf: (resource: Resource) => DescribedResource
  /** Whether another schema has the combined name of a record and its relation, such as `PlayerNote`. */
  readonly isNameTaken: (relation: Relation) => boolean
}

/** Name for a relation of a record: `PlayerNote`, or `Player_Notes` if that name is taken. */
export function relationName(
  { names: { one }, isNameTaken }: DescribedResource,
  relation: Relation,
  form: 'one' | 'many',
): string {
  const name = typeName(relation.json)
  if (isNameTaken(relation)) return `${one}_${name}`
  return one + (form === 'one' ? singularize(name) : name)
}

/** Counts how many schemas of the document would have each name. */
function countNames(subjects: DescribedResources): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const addNames = (names: readonly string[]): void => {
    for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const behind = new Set<DescribedResource>()
  for (const subject of subjects) {
    for (const relation of documentedRelationsOf(subject.resource)) {
      behind.add(subject.subjectOf(relation.relatedResource()))
      addNames(joinedNames(subject.names.one, relation))
    }
  }
  for (const { names } of new Set([...subjects, ...behind])) addNames([names.one, names.many])
  return counts
}

/** Relations with nested records in bodies, or with routes. */
function documentedRelationsOf(resource: Resource): readonly Relation[] {
  const names = new Set([...resource.nestedRelations, ...resource.nested.map(({ json }) => json)])
  return [...names].flatMap((json) => resource.relations().get(json.toLowerCase()) ?? [])
}

function joinedNames(one: string, { json }: Relation): readonly string[] {
  const name = typeName(json)
  return [one + name, one + singularize(name)]
}

/**
 * Creates the subjects of a document's resources.
 * @throws CrudConfigError for values that are not resources, and for invalid or ambiguous names
 */
export function createSubjects(resources: unknown, components: Components = new Components()): DescribedResources {
  const entries = Array.isArray(resources)
    ? resources.map((given, index) => readEntry(given, `resources[${index}]`))
    : []
  const [first, ...others] = entries
  if (first === undefined)
    throw invalidOption('resources must be a non-empty array of routers, controllers or resources.')
  const behind = new Map<Resource, DescribedResource>()
  const nameOf = createNamer(entries)
  const createSubject = (entry: ResourceEntry): DescribedResource => {
    const { resource, at } = entry
    const names = nameOf(entry)
    const parts = at.split('/').filter((part) => part !== '')
    const prefix = parts.map((part) => `/${part.replace(/^:(\w+)$/, '{$1}')}`).join('')
    const path = resource.route === '/' ? prefix || '/' : prefix + resource.route
    const findSubject = (other: Resource): DescribedResource => {
      const own = all.filter((subject) => subject.resource === other)
      const known = own.find((subject) => subject.mountPath === prefix) ?? own[0] ?? behind.get(other)
      if (known !== undefined) return known
      const subject = createSubject({ resource: other, at: prefix, names: {} })
      behind.set(other, subject)
      return subject
    }
    const isNameTaken = (relation: Relation): boolean => {
      counts ??= countNames(all)
      return joinedNames(names.one, relation).some((name) => (counts?.get(name) ?? 0) > 1)
    }
    return { resource, names, mountPath: prefix, path, components, subjectOf: findSubject, isNameTaken }
  }
  let counts: ReadonlyMap<string, number> | null = null
  const all: DescribedResources = [createSubject(first), ...others.map(createSubject)]
  assertDistinctResourceNames(all)
  for (const subject of all) components.reserveName(subject.names.one, subject)
  for (const subject of all) {
    const { create, update, list } = subject.names
    for (const name of [create, update, list]) components.reserveName(name, subject)
  }
  return all
}

/** Checks that paths are unique. @throws CrudConfigError for two resources with operations at one path */
export function assertDistinctDocumentedRoutes(subjects: readonly DescribedResource[]): void {
  const owners = new Map<string, DescribedResource>()
  for (const subject of subjects) {
    const { operations, actions, operationTable } = subject.resource
    const own = builtInOperationEntries(operationTable).flatMap(([name, row]) => (operations.has(name) ? [row] : []))
    for (const { method, path } of [...own, ...actions.values()]) {
      const route = `${method.toUpperCase()} ${subject.path}${path === '/' ? '' : path.replaceAll(/:(\w+)/g, '{$1}')}`
      const owner = owners.get(route) ?? subject
      owners.set(route, owner)
      // Operations of one resource may share a route.
      if (owner === subject) continue
      const names = [owner, subject].map(({ resource }) => resource.name).join(' and ')
      throw invalidOption(
        `Two resources have the route "${route}": ${names}. Set "at" to the paths that they are mounted under.`,
      )
    }
  }
}

/** Resources of a document. */
type DescribedResources = readonly [DescribedResource, ...DescribedResource[]]

interface ResourceEntry {
  readonly resource: Resource
  readonly at: string
  readonly names: ShapeNames
}

function readEntry(given: unknown, where: string): ResourceEntry {
  const resource =
    resourceOf(given) ?? resourceOf(resourceOfRouter(given)) ?? resourceOf(resourceOfRouter(resourceOfRouter(given)))
  if (resource === null) {
    const what = 'a router, a controller or a resource, or an object { resource, at, names } with one'
    throw invalidOption(`${where} must be ${what}.`)
  }
  const { at = '', names = {} } = typeof given === 'object' ? (given as Partial<ResourceEntry>) : {}
  if (typeof at !== 'string' || !/^[^?#{}]*$/.test(at))
    throw invalidOption(`${where}.at must be the path that the resource is mounted under.`)
  return { resource, at, names: resourceOf(given) === null ? names : {} }
}
