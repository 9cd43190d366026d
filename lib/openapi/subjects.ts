import type { ApiDocsOptions, DocumentOptions } from '../../types/openApi.js'
import type { Resource } from '../../types/resource.js'
import type { ShapeNames } from '../../types/settings.js'
import { CrudConfigError } from '../common/errors.js'
import { resourceOf } from '../compile/mounted.js'
import { typeName } from '../compile/names.js'
import { carried } from '../compile/speaker.js'
import { unknownName } from '../config/suggest.js'
import { pluralize, pluralOf } from '../sequelize/words.js'

// ---------------------------------------------------------------- options

export const DOCUMENT_OPTIONS: readonly (keyof DocumentOptions)[] = ['resources', 'info', 'servers', 'security']
export const DOCS_OPTIONS: readonly (keyof ApiDocsOptions)[] = [...DOCUMENT_OPTIONS, 'path', 'ui']

function invalid(message: string): CrudConfigError {
  return new CrudConfigError('INVALID_OPTION', message)
}

/** @throws CrudConfigError for options that do not exist, and for an `info` without title or version */
export function assertOptions(options: DocumentOptions, maker: string, names: readonly string[]): void {
  const given: unknown = options
  if (given === undefined || given === null) throw invalid(`${maker}: options are missing.`)
  // Routers are functions.
  if (typeof given !== 'object' || Array.isArray(given))
    throw invalid(`${maker}: the argument must be an object with "resources" and "info".`)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) throw unknownName('UNKNOWN_OPTION', `${maker}: the option`, unknown, names)
  const { title, version } = Object(Object(given).info)
  if (typeof title === 'string' && typeof version === 'string') return
  throw invalid(`${maker}: info must be an object with the texts "title" and "version".`)
}

// ---------------------------------------------------------------- names

/** The names of a resource's parts in documents. They are an interface: clients are generated from them. */
export interface Names {
  /** A record, in the names of operations and components: `Player`. */
  readonly one: string
  /** Several records, and the tag: `Players`. */
  readonly many: string
  readonly create: string
  readonly update: string
  readonly list: string
}

/** The names of a resource; `given` wins over its own. */
function namesOf({ name, model, names }: Resource, given: ShapeNames): Names {
  const one = given.response ?? names.response
  // Names that are made of `response` are made of the given one.
  const derived = (own: string, end: string): string => (own === names.response + end ? one + end : own)
  const all: Names = {
    one,
    many: one === typeName(name) ? typeName(pluralOf(model)) : pluralize(one),
    create: given.create ?? derived(names.create, 'Create'),
    update: given.update ?? derived(names.update, 'Update'),
    list: given.list ?? derived(names.list, 'ListItem'),
  }
  const wrong = Object.values(all).find((each) => !/^[A-Za-z0-9._-]+$/.test(each))
  if (wrong === undefined) return all
  throw invalid(
    `${name}: names: "${wrong}" cannot be a name in a document, which has letters from A to Z, digits, ".", "_" and "-": say names.response.`,
  )
}

// ---------------------------------------------------------------- subjects

/** A resource in a document. */
export interface Subject {
  readonly resource: Resource
  readonly names: Names
  /** The path that it is mounted under, as documents have it: `/tenants/{tenant}`. */
  readonly at: string
  /** The path of its collection. */
  readonly path: string
}

/** The resources of a document, and those that their relations lead to. */
export class Subjects {
  /** Those that the document was asked for. */
  readonly all: readonly Subject[]
  readonly #behind = new Map<Resource, Subject>()

  /** @throws CrudConfigError for anything but resources, and for names that no document can have */
  constructor(resources: unknown) {
    if (!Array.isArray(resources) || resources.length === 0)
      throw invalid('resources must be an array of routers, controllers or resources.')
    this.all = resources.map((given, index) => subjectOf(given, `resources[${index}]`))
  }

  /** The subject of a resource: the one at that path, if it is mounted at several. */
  of(resource: Resource, at: string): Subject {
    const own = this.all.filter((subject) => subject.resource === resource)
    const known = own.find((subject) => subject.at === at) ?? own[0] ?? this.#behind.get(resource)
    if (known !== undefined) return known
    const subject = subjectFor(resource, at, {})
    this.#behind.set(resource, subject)
    return subject
  }
}

function subjectOf(given: unknown, where: string): Subject {
  const plain = resourceOf(given) ?? resourceOf(carried(given))
  const resource = plain ?? resourceOf(carried(carried(given)))
  if (resource === null) {
    const what = 'a router, a controller or a resource, or an object { resource, at, names } with one'
    throw invalid(`${where} must be ${what}.`)
  }
  const { at = '', names = {} } = typeof given === 'object' && given !== null ? (given as Entry) : {}
  if (typeof at !== 'string' || !/^[^?#{}]*$/.test(at))
    throw invalid(`${where}.at must be the path that the resource is mounted under.`)
  return subjectFor(resource, at, resourceOf(given) === null ? names : {})
}

interface Entry {
  readonly at?: string
  readonly names?: ShapeNames
}

function subjectFor(resource: Resource, at: string, names: ShapeNames): Subject {
  const parts = at.split('/').filter((part) => part !== '')
  const prefix = parts.map((part) => `/${part.replace(/^:(\w+)$/, '{$1}')}`).join('')
  const path = resource.route === '/' ? prefix || '/' : prefix + resource.route
  return { resource, names: namesOf(resource, names), at: prefix, path }
}
