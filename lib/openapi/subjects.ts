import type { ApiDocsOptions, DocumentOptions } from '../../types/openApi.js'
import type { Relation, Resource } from '../../types/resource.js'
import type { ShapeNames } from '../../types/settings.js'
import { resourceOf } from '../compile/mounted.js'
import { typeName } from '../compile/names.js'
import { carried } from '../compile/speaker.js'
import { unknownName } from '../config/suggest.js'
import { ownEntriesOf } from '../operations.js'
import { singularize } from '../sequelize/words.js'
import { Components, invalid } from './components.js'
import { assertApart, type Names, namerOf } from './names.js'

export const DOCUMENT_OPTIONS: readonly (keyof DocumentOptions)[] = [
  'resources',
  'info',
  'servers',
  'security',
  'version',
]
export const DOCS_OPTIONS: readonly (keyof ApiDocsOptions)[] = [...DOCUMENT_OPTIONS, 'path', 'ui']

/** @throws CrudConfigError for unknown options, and for an `info` without title or version */
export function assertOptions(
  options: Pick<DocumentOptions, 'resources' | 'info'>,
  maker: string,
  names: readonly string[],
): void {
  const given: unknown = options
  if (given === undefined || given === null) throw invalid(`${maker}: options are missing.`)
  // Routers are functions, so `typeof` alone rejects a router as options.
  if (typeof given !== 'object' || Array.isArray(given))
    throw invalid(`${maker}: the argument must be an object with "resources" and "info".`)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) throw unknownName('UNKNOWN_OPTION', `${maker}: the option`, unknown, names)
  const { info, version: openApi = '3.1' } = Object(given)
  if (openApi !== '3.1' && openApi !== '3.2') {
    throw invalid(`${maker}: version must be "3.1" or "3.2", the version of OpenAPI. That of your API is info.version.`)
  }
  const { title, version } = Object(info)
  if (typeof title === 'string' && typeof version === 'string') return
  throw invalid(`${maker}: info must be an object with the texts "title" and "version".`)
}

/** A resource in a document. */
export interface Subject {
  readonly resource: Resource
  readonly names: Names
  /** Mount path in the form of documents: `/tenants/{tenant}`. */
  readonly at: string
  /** Path of the collection. */
  readonly path: string
  /** Components of the document. */
  readonly components: Components
  /** Returns the subject of another resource: if it has several mounts, the one with the same mount path. */
  readonly of: (resource: Resource) => Subject
  /** Whether the document already uses the joined name of a record and its relation. */
  readonly isTaken: (relation: Relation) => boolean
}

/** Name for a relation of a record: `PlayerNote`, or `Player_Notes` if that is taken. */
export function belowOf({ names: { one }, isTaken }: Subject, relation: Relation, form: 'one' | 'many'): string {
  const name = typeName(relation.json)
  if (isTaken(relation)) return `${one}_${name}`
  return one + (form === 'one' ? singularize(name) : name)
}

/** Number of uses of each name in the document. */
function countsOf(subjects: Subjects): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const count = (names: readonly string[]): void => {
    for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const behind = new Set<Subject>()
  for (const subject of subjects) {
    for (const relation of relationsOf(subject.resource)) {
      behind.add(subject.of(relation.speaker()))
      count(joinedOf(subject.names.one, relation))
    }
  }
  for (const { names } of new Set([...subjects, ...behind])) count([names.one, names.many])
  return counts
}

/** Relations with nested records in bodies, or with routes. */
function relationsOf(resource: Resource): readonly Relation[] {
  const names = new Set([...resource.holds, ...resource.nested.map(({ json }) => json)])
  return [...names].flatMap((json) => resource.relations().get(json.toLowerCase()) ?? [])
}

function joinedOf(one: string, { json }: Relation): readonly string[] {
  const name = typeName(json)
  return [one + name, one + singularize(name)]
}

/** @throws CrudConfigError for values that are not resources, and for invalid or ambiguous names */
export function subjectsOf(resources: unknown, components: Components = new Components()): Subjects {
  const entries = Array.isArray(resources) ? resources.map((given, index) => entryOf(given, `resources[${index}]`)) : []
  const [first, ...others] = entries
  if (first === undefined) throw invalid('resources must be an array of routers, controllers or resources.')
  const behind = new Map<Resource, Subject>()
  const nameOf = namerOf(entries)
  const subjectFor = (entry: Entry): Subject => {
    const { resource, at } = entry
    const names = nameOf(entry)
    const parts = at.split('/').filter((part) => part !== '')
    const prefix = parts.map((part) => `/${part.replace(/^:(\w+)$/, '{$1}')}`).join('')
    const path = resource.route === '/' ? prefix || '/' : prefix + resource.route
    const of = (other: Resource): Subject => {
      const own = all.filter((subject) => subject.resource === other)
      const known = own.find((subject) => subject.at === prefix) ?? own[0] ?? behind.get(other)
      if (known !== undefined) return known
      const subject = subjectFor({ resource: other, at: prefix, names: {} })
      behind.set(other, subject)
      return subject
    }
    const isTaken = (relation: Relation): boolean => {
      counts ??= countsOf(all)
      return joinedOf(names.one, relation).some((name) => (counts?.get(name) ?? 0) > 1)
    }
    return { resource, names, at: prefix, path, components, of, isTaken }
  }
  let counts: ReadonlyMap<string, number> | null = null
  const all: Subjects = [subjectFor(first), ...others.map(subjectFor)]
  assertApart(all)
  for (const subject of all) components.keep(subject.names.one, subject)
  for (const subject of all) {
    const { create, update, list } = subject.names
    for (const name of [create, update, list]) components.keep(name, subject)
  }
  return all
}

/** @throws CrudConfigError for two resources with operations at one path */
export function assertPaths(subjects: readonly Subject[]): void {
  const owners = new Map<string, Subject>()
  for (const subject of subjects) {
    const { operations, actions, table } = subject.resource
    const own = ownEntriesOf(table).flatMap(([name, row]) => (operations.has(name) ? [row] : []))
    for (const { method, path } of [...own, ...actions.values()]) {
      const route = `${method.toUpperCase()} ${subject.path}${path === '/' ? '' : path.replaceAll(/:(\w+)/g, '{$1}')}`
      const owner = owners.get(route) ?? subject
      owners.set(route, owner)
      // Operations of one resource may share a route.
      if (owner === subject) continue
      const names = [owner, subject].map(({ resource }) => resource.name).join(' and ')
      throw invalid(`"${route}" is there twice, for ${names}: say where the resources are mounted, by "at".`)
    }
  }
}

/** Resources that the document is for. */
type Subjects = readonly [Subject, ...Subject[]]

interface Entry {
  readonly resource: Resource
  readonly at: string
  readonly names: ShapeNames
}

function entryOf(given: unknown, where: string): Entry {
  const resource = resourceOf(given) ?? resourceOf(carried(given)) ?? resourceOf(carried(carried(given)))
  if (resource === null) {
    const what = 'a router, a controller or a resource, or an object { resource, at, names } with one'
    throw invalid(`${where} must be ${what}.`)
  }
  const { at = '', names = {} } = typeof given === 'object' ? (given as Partial<Entry>) : {}
  if (typeof at !== 'string' || !/^[^?#{}]*$/.test(at))
    throw invalid(`${where}.at must be the path that the resource is mounted under.`)
  return { resource, at, names: resourceOf(given) === null ? names : {} }
}
