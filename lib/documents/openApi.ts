import type { DocumentOptions, DocumentTag, OpenApiDocument, PathItem } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import { Components, type Draft } from './components.js'
import { crudOf } from './crud.js'
import { nestedRoutes } from './nested.js'
import { assertOptions, DOCUMENT_OPTIONS } from './options.js'
import { ownRoutes, type Route } from './routes.js'
import { type Subject, Subjects } from './subjects.js'

/**
 * The OpenAPI 3.1 document of resources, written from what serves their requests: a plain object, the same for whoever asks.
 * Fields that are excluded are not in it; masked ones are, with the permission that they need as `x-permission`.
 *
 * @throws CrudConfigError for wrong options, what is no resource, and where two of them would have one name, path or operation id
 */
export function openApi(options: DocumentOptions): OpenApiDocument {
  assertOptions(options, 'openApi', DOCUMENT_OPTIONS)
  const { info, servers = [{ url: '/' }] } = options
  const draft: Draft = { components: new Components(), subjects: new Subjects(options.resources) }
  const paths = new Map<string, PathItem>()
  const ids = new Map<string, Named>()
  for (const subject of draft.subjects.all) {
    for (const route of [...ownRoutes(draft, subject, options), ...nestedRoutes(draft, subject, options)]) {
      const { path, method, operation } = route
      if (paths.get(path)?.[method] !== undefined) throw samePlace(route)
      const named = { subject, route }
      const other = ids.get(operation.operationId)
      if (other !== undefined) throw sameName(other, named)
      ids.set(operation.operationId, named)
      paths.set(path, { ...paths.get(path), [method]: operation })
    }
  }
  const tags = draft.subjects.all.map((subject) => tagOf(draft, subject))
  return {
    openapi: '3.1.0',
    info,
    servers,
    tags,
    paths: Object.fromEntries(paths),
    components: draft.components.content,
  }
}

/** An operation, and whose it is. */
interface Named {
  readonly subject: Subject
  readonly route: Route
}

function spelt({ method, path }: Route): string {
  return `${method.toUpperCase()} ${path}`
}

function samePlace(route: Route): CrudConfigError {
  return new CrudConfigError(
    'INVALID_OPTION',
    `"${spelt(route)}" is there twice: two of the resources are mounted at one path: say where, by "at".`,
  )
}

/** Routes below records are named after two resources, which may be what a third one is called. */
function sameName(one: Named, other: Named): CrudConfigError {
  const { subject } = one.route.relation === undefined ? one : other
  const { resource, names } = subject
  return new CrudConfigError(
    'INVALID_OPTION',
    `"${one.route.operation.operationId}" is there twice, for ${spelt(one.route)} and for ${spelt(other.route)}: give ${resource.name} at ${subject.path} other names, by its option names, or by that of its entry: { resource, at, names: { response: 'Other${names.one}' } }.`,
  )
}

function tagOf(draft: Draft, subject: Subject): DocumentTag {
  const { names, path } = subject
  return { name: names.many, description: `The records at \`${path}\`.`, 'x-crud': crudOf(draft, subject) }
}
