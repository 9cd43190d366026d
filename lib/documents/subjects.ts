import type { DocumentOptions } from '../../types/openApi.js'
import type { Resource } from '../../types/resource.js'
import type { ShapeNames } from '../../types/settings.js'
import { CrudConfigError } from '../common/errors.js'
import { resourceOf } from '../compile/mounted.js'
import { carried } from '../compile/speaker.js'
import { type Names, namesOf } from './names.js'

/** A resource as a document tells of it. */
export interface Subject {
  readonly resource: Resource
  readonly names: Names
  /** Where it is mounted, as a path of the document: `/tenants/{tenant}`. */
  readonly at: string
  /** The path of its collection. */
  readonly path: string
}

/** The resources of a document, and those that theirs lead to. */
export class Subjects {
  /** Those that the document was asked for. */
  readonly all: readonly Subject[]
  readonly #behind = new Map<Resource, Subject>()

  /** @throws CrudConfigError for what is no resource, or has a name that no document can have */
  constructor(resources: DocumentOptions['resources']) {
    this.all = listed(resources).map((given, index) => subjectOf(given, `resources[${index}]`))
  }

  /** A resource as whoever is mounted there sees it. */
  of(resource: Resource, at: string): Subject {
    const own = this.all.filter((subject) => subject.resource === resource)
    const known = own.find((subject) => subject.at === at) ?? own[0] ?? this.#behind.get(resource)
    if (known !== undefined) return known
    const subject = subjectFor(resource, at, {})
    this.#behind.set(resource, subject)
    return subject
  }
}

function listed(resources: unknown): readonly unknown[] {
  if (Array.isArray(resources) && resources.length > 0) return resources
  throw new CrudConfigError('INVALID_OPTION', 'resources must be an array of routers, controllers or resources.')
}

function subjectOf(given: unknown, where: string): Subject {
  const plain = resourceOf(given) ?? resourceOf(carried(given))
  const resource = plain ?? resourceOf(carried(carried(given)))
  if (resource === null) {
    const what = 'a router, a controller or a resource, or an object { resource, at, names } with one'
    throw new CrudConfigError('INVALID_OPTION', `${where} must be ${what}.`)
  }
  const { at = '', names = {} } = typeof given === 'object' && given !== null ? (given as Entry) : {}
  if (typeof at !== 'string' || !/^[^?#{}]*$/.test(at)) {
    throw new CrudConfigError('INVALID_OPTION', `${where}.at must be the path that the resource is mounted under.`)
  }
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

/** The names of the parameters in the path that a resource is mounted under. */
export function parametersOf({ at }: Subject): readonly string[] {
  return [...at.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}
