import type { OperationName } from '../lib/operations.js'
import type { FieldType } from './fieldType.js'
import type { ResourceInfo } from './info.js'
import type { Limits, ShapeNames } from './settings.js'

/** A JSON Schema (draft 2020-12). */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A value with a compiled resource: a router or a controller. */
interface MountedResource {
  readonly resource: ResourceInfo
}

/** A router, a controller or a resource. */
export type Documentable = MountedResource | ResourceInfo

export interface DocumentedResource {
  readonly resource: Documentable
  /**
   * The path where the resource is mounted: `/tenant-a`, or with Express parameters `/tenants/:tenant`. Default: no
   * path.
   */
  readonly at?: string
  /** Names in the document, for a resource that is mounted twice. Default: the resource's own names. */
  readonly names?: ShapeNames
}

export interface DocumentInfo {
  readonly title: string
  readonly version: string
  readonly summary?: string
  readonly description?: string
  readonly termsOfService?: string
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string }
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string }
}

/** A security requirement of OpenAPI. All schemes of one object are required; in a list, one object suffices. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

/** Security schemes of the application, as OpenAPI security scheme objects. Default: the scheme of `jwtIdentity`. */
export interface DocumentSecurity {
  /** Security schemes by name. */
  readonly schemes: Readonly<Record<string, object>>
  /** The security requirement of operations with a policy. */
  readonly requirement: readonly SecurityRequirement[]
}

export interface DocumentOptions {
  readonly resources: readonly (Documentable | DocumentedResource)[]
  readonly info: DocumentInfo
  /** Default: one server, with the URL `/`. */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  readonly security?: DocumentSecurity
  /** The OpenAPI version of the document. Default `3.1`. */
  readonly version?: OpenApiVersion
}

export type OpenApiVersion = '3.1' | '3.2'

/** The options of `clientTypes`. */
export type ClientTypesOptions = Pick<DocumentOptions, 'resources'>

/** URLs of the documents that `apiDocs` serves, relative to its page. */
export interface DocumentUrls {
  readonly openApi: string
  readonly clientTypes: string
}

export interface ApiDocsOptions extends DocumentOptions {
  /** The path above `/openapi.json`, `/docs` and `/client.d.ts`. Default `/`. */
  readonly path?: string
  /**
   * Another page for `/docs`: `swagger` for Swagger UI, which needs the package `swagger-ui-dist`, or a function that
   * returns HTML. HTML is sent without a Content-Security-Policy. Default: the package's own page.
   */
  readonly ui?: 'swagger' | ((urls: DocumentUrls) => string)
}

/** An OpenAPI document as a plain object. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0' | '3.2.0'
  readonly info: DocumentInfo
  readonly servers: readonly { readonly url: string; readonly description?: string }[]
  readonly tags: readonly DocumentTag[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: DocumentComponents
}

/** A reference within the document: `#` and a JSON pointer (RFC 6901). */
export interface DocumentReference {
  readonly $ref: string
}

export type DocumentComponents = {
  readonly [kind in 'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes']?: Readonly<
    Record<string, JsonSchema>
  >
}

export interface DocumentTag {
  readonly name: string
  readonly description: string
  readonly 'x-crud': XCrud
}

export type PathItem = {
  readonly [method in 'get' | 'put' | 'post' | 'patch' | 'delete' | 'query']?: DocumentedOperation
}

export interface DocumentedOperation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly deprecated?: true
  readonly tags: readonly string[]
  readonly parameters?: readonly JsonSchema[]
  readonly requestBody?: JsonSchema
  readonly responses: Readonly<Record<string, JsonSchema>>
  readonly security: readonly SecurityRequirement[]
}

/** A resource's description for programs: the member `x-crud` of its tag. */
export interface XCrud {
  /** The schema name of the resource's records. */
  readonly resource: string
  /** The path of the resource's collection, without the server's path. */
  readonly path: string
  readonly key: { readonly name: string; readonly type: FieldType }
  readonly operations: readonly OperationName[]
  readonly fields: readonly XCrudField[]
  readonly relations: readonly XCrudRelation[]
  /** The actions; absent for a resource without actions. */
  readonly actions?: readonly XCrudAction[]
  /** The quantifier words of filters. */
  readonly quantifiers: readonly string[]
  /** The limits; a reference if another tag has the same limits. */
  readonly limits: Limits | DocumentReference
  readonly pageSize: number
  readonly maxPageSize: number
  /** Whether cursor pages exist. */
  readonly keyset: boolean
  /** Whether deleted records can be listed. */
  readonly softDeletes: boolean
  /** True if each caller has one record, at `path` itself. */
  readonly singleton?: true
  /** Whether records have versions for conditional writes. */
  readonly versions: boolean
  /** The deprecation; absent if the resource is not deprecated. */
  readonly deprecated?: XCrudDeprecation
  /** The path of the Socket.IO namespace for push events; null without push events. */
  readonly hub: string | null
}

/** A deprecated resource or field. Dates are text in ISO 8601. */
export interface XCrudDeprecation {
  readonly since: string
  readonly sunset?: string
  /** The address of a page for developers. */
  readonly link?: string
}

export interface XCrudField {
  /** The name in the API; for a member of a JSON document, its path. */
  readonly name: string
  readonly type: FieldType | 'array'
  readonly nullable: boolean
  /** Tokens of the filter language; empty if the field is not filterable. */
  readonly operators: readonly string[]
  readonly sortable: boolean
  readonly selectable: boolean
  /** The application computes the values. Bodies, filters and sorts do not accept the field. */
  readonly computed?: true
  /** The deprecation; absent if the field is not deprecated. */
  readonly deprecated?: XCrudDeprecation
  /** The values of an enumeration. */
  readonly values?: readonly string[]
  /** The items of an array, for quantifiers in filters: `tags.Any=new`. */
  readonly items?: XCrudItems
  /** The permission or role that reading requires. */
  readonly permission?: string
  /** The permission or role that writing requires. */
  readonly writePermission?: string
}

export interface XCrudItems {
  readonly type: FieldType
  /** Tokens of the filter language after a quantifier; empty if the field is not filterable. */
  readonly operators: readonly string[]
  /** The values of an enumeration. */
  readonly values?: readonly string[]
}

export interface XCrudAction {
  readonly name: string
  readonly on: 'record' | 'collection'
  readonly method: 'get' | 'post'
  /** Path below the collection, with the record's key as `{id}`. */
  readonly path: string
  /** The content of the response: a record, `items`, nothing, or another value. */
  readonly output: 'record' | 'list' | 'none' | 'value'
  /** The schema of the body, or of the parameters as an object; absent for an action without input. */
  readonly input?: JsonSchema
}

export interface XCrudRelation {
  readonly name: string
  readonly many: boolean
  /** The schema name of the relation's records; null if no resource is mounted over their model. */
  readonly resource: string | null
  /** The fields; a reference if another tag has the same fields. */
  readonly fields: readonly XCrudField[] | DocumentReference
  /** The join model's row as a member of a many-to-many record; absent if paths cannot reach it. */
  readonly link?: XCrudLink
}

export interface XCrudLink {
  readonly name: string
  /** The schema name of the rows; null if the document has no resource over the join model. */
  readonly resource: string | null
  readonly fields: readonly XCrudField[]
}
