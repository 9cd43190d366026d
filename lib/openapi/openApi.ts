import type { DocumentOptions, DocumentReference, DocumentTag, OpenApiDocument, PathItem } from '../../types/openApi.js'
import { runAtOnce, type Steps } from '../common/eventLoop.js'
import { Components } from './components.js'
import { describeCrud, type ResourceExtension } from './crud.js'
import { writeNestedRoutes, writeOwnRoutes } from './routes.js'
import {
  assertDistinctDocumentedRoutes,
  assertOptions,
  createSubjects,
  type DescribedResource,
  DOCUMENT_OPTIONS,
} from './subjects.js'

/**
 * OpenAPI document of resources, version 3.1 by default. The document is a plain object and equal for all callers.
 * Excluded fields are left out. Masked fields have the required permission as `x-permission`.
 *
 * @throws CrudConfigError for wrong options, values that are not resources, and duplicate names, paths or operation ids
 */
export function openApi(options: DocumentOptions): OpenApiDocument {
  assertOptions(options, 'openApi', DOCUMENT_OPTIONS)
  return runAtOnce(writeDocument(options))
}

/** Number of each OpenAPI version in documents. */
const DOCUMENT_VERSIONS = { '3.1': '3.1.0', '3.2': '3.2.0' } as const

/** Writes the document of `openApi`, one resource per step. */
export function* writeDocument(
  { resources, info, servers = [{ url: '/' }], security, version = '3.1' }: DocumentOptions,
  components: Components = new Components(true, version),
): Steps<OpenApiDocument> {
  const paths = new Map<string, PathItem>()
  const ids = new Set<string>()
  const described = new Map<DescribedResource, ResourceExtension>()
  const subjects = createSubjects(resources, components)
  assertDistinctDocumentedRoutes(subjects)
  for (const subject of subjects) {
    for (const { path, method, operation } of [
      ...writeOwnRoutes(subject, security),
      ...writeNestedRoutes(subject, security),
    ]) {
      const operationId = findFreeId(operation.operationId, ids)
      ids.add(operationId)
      paths.set(path, { ...paths.get(path), [method]: { ...operation, operationId } })
    }
    described.set(subject, describeCrud(subject))
    yield* components.createPending()
    yield
  }
  const tags = yield* writeTags(described)
  components.fillRepeated()
  return {
    openapi: DOCUMENT_VERSIONS[version],
    info,
    servers,
    tags,
    paths: Object.fromEntries(paths),
    components: components.content,
  }
}

/** The document as JSON text, in small parts: one operation, one tag member or one component each. */
export function* stringifyDocument({ openapi, info, servers, ...large }: OpenApiDocument): Generator<string> {
  yield JSON.stringify({ openapi, info, servers }).slice(0, -1)
  for (const [name, member] of Object.entries(large)) {
    yield `,${JSON.stringify(name)}:`
    yield* stringifyParts(member, 1)
  }
  yield '}'
}

function* stringifyParts(value: object, depth: number): Generator<string> {
  const isList = Array.isArray(value)
  let before = isList ? '[' : '{'
  for (const [name, member] of Object.entries(value)) {
    yield isList ? before : `${before}${JSON.stringify(name)}:`
    if (depth > 0) yield* stringifyParts(member, depth - 1)
    else yield JSON.stringify(member)
    before = ','
  }
  yield `${before === ',' ? '' : before}${isList ? ']' : '}'}`
}

/**
 * Finds a free operation id. Ids of routes below records join two names, and the joined name may equal an id of a third
 * resource.
 */
function findFreeId(preferred: string, ids: ReadonlySet<string>): string {
  let id = preferred
  while (ids.has(id)) id = `${id}_`
  return id
}

/**
 * Writes the tags of resources. Equal limits, and equal fields behind relations, become references to the first tag
 * that has them.
 */
function* writeTags(described: ReadonlyMap<DescribedResource, ResourceExtension>): Steps<readonly DocumentTag[]> {
  const all = [...described]
  const places = new Map<string, string>()
  for (const [index, [, crud]] of all.entries()) {
    for (const name of ['fields', 'limits'] as const) {
      const text = JSON.stringify(crud[name])
      if (!places.has(text)) places.set(text, `#/tags/${index}/x-crud/${name}`)
    }
  }
  const tags: DocumentTag[] = []
  for (const [index, [subject, crud]] of all.entries()) {
    const referToEqual = <T>(content: T): T | DocumentReference => {
      const place = places.get(JSON.stringify(content))
      return place === undefined || place === `#/tags/${index}/x-crud/limits` ? content : { $ref: place }
    }
    const relations = crud.relations.map((relation) => ({ ...relation, fields: referToEqual(relation.fields) }))
    tags.push({
      name: subject.names.many,
      description: `The records at \`${subject.path}\`.`,
      'x-crud': { ...crud, limits: referToEqual(crud.limits), relations },
    })
    yield
  }
  return tags
}
