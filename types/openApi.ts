import type { OperationName } from '../lib/operations.js'
import type { FieldType } from './fieldType.js'
import type { ResourceInfo } from './info.js'
import type { Limits, ShapeNames } from './settings.js'

/** A JSON Schema (draft 2020-12). */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** What a router or controller carries. */
interface Carrying {
  readonly resource: ResourceInfo
}

/** A router, a controller or a resource. */
export type Documentable = Carrying | ResourceInfo

export interface DocumentedResource {
  readonly resource: Documentable
  /** The path that it is mounted under: `/tenant-a`; parameters as in Express, `/tenants/:tenant`. Default: none. */
  readonly at?: string
  /** Names for the document instead of those of the resource, for one that is mounted twice. */
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

/** A security requirement of OpenAPI: all schemes of an object, or any object of a list. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

/** How callers say who they are where the identity is not `jwtIdentity`, in OpenAPI's words. */
export interface DocumentSecurity {
  /** Security schemes by name. */
  readonly schemes: Readonly<Record<string, object>>
  /** What operations ask for that have a policy. */
  readonly requirement: readonly SecurityRequirement[]
}

export interface DocumentOptions {
  readonly resources: readonly (Documentable | DocumentedResource)[]
  readonly info: DocumentInfo
  /** Default: one, at `/`. */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  readonly security?: DocumentSecurity
  /** The version of OpenAPI. 3.2 describes the method QUERY and files of a record a line. Default: 3.1. */
  readonly version?: OpenApiVersion
}

export type OpenApiVersion = '3.1' | '3.2'

/** What `clientTypes` writes the types of. */
export type ClientTypesOptions = Pick<DocumentOptions, 'resources'>

/** Where a page finds what `apiDocs` serves beside it, relative to itself. */
export interface DocumentUrls {
  readonly openApi: string
  readonly clientTypes: string
}

export interface ApiDocsOptions extends DocumentOptions {
  /** The path above `/openapi.json`, `/docs` and `/client.d.ts`. Default `/`. */
  readonly path?: string
  /**
   * Another page for `/docs`: `swagger` for Swagger UI, which needs the package `swagger-ui-dist`, or HTML. HTML is sent without a content
   * security policy. Default: a page of the package itself.
   */
  readonly ui?: 'swagger' | ((urls: DocumentUrls) => string)
}

/** An OpenAPI document as a plain object. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1' | '3.2.0'
  readonly info: DocumentInfo
  readonly servers: readonly { readonly url: string; readonly description?: string }[]
  readonly tags: readonly DocumentTag[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: DocumentComponents
}

/** A place in the same document, as a JSON pointer behind `#`. */
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

/** What a document says of a resource to programs, beyond OpenAPI: the member `x-crud` of its tag. */
export interface XCrud {
  /** The name of its records' schema. */
  readonly resource: string
  /** The path of its collection, without that of the server. */
  readonly path: string
  readonly key: { readonly name: string; readonly type: FieldType }
  readonly operations: readonly OperationName[]
  readonly fields: readonly XCrudField[]
  readonly relations: readonly XCrudRelation[]
  /** Absent for none. */
  readonly actions?: readonly XCrudAction[]
  /** The words for collections in filters. */
  readonly quantifiers: readonly string[]
  /** A reference where another tag has the same. */
  readonly limits: Limits | DocumentReference
  readonly pageSize: number
  readonly maxPageSize: number
  /** Whether pages by cursor exist. */
  readonly keyset: boolean
  /** Whether deleted records can be listed. */
  readonly softDeletes: boolean
  /** Each caller has one record, at `path` itself. */
  readonly singleton?: true
  /** Whether writes depend on versions. */
  readonly versions: boolean
  /** Absent for a resource that stays. */
  readonly deprecated?: XCrudDeprecation
  /** The path of the hub that tells of changes; null without one. */
  readonly hub: string | null
}

/** A resource or a field that the application is going to withdraw. Dates are text in ISO 8601. */
export interface XCrudDeprecation {
  readonly since: string
  readonly sunset?: string
  /** The address of a page for developers. */
  readonly link?: string
}

export interface XCrudField {
  /** A path for a member of a JSON document. */
  readonly name: string
  readonly type: FieldType | 'array'
  readonly nullable: boolean
  /** Tokens of the filter language; none where the field is not filterable. */
  readonly operators: readonly string[]
  readonly sortable: boolean
  readonly selectable: boolean
  /** The application computes its values: bodies, filters and sorts do not have it. */
  readonly computed?: true
  /** Absent for a field that stays. */
  readonly deprecated?: XCrudDeprecation
  /** The values of an enumeration. */
  readonly values?: readonly string[]
  /** The items of an array, which filters ask for by quantifiers: `tags.Any=new`. */
  readonly items?: XCrudItems
  /** What callers need to read it, a permission or a role. */
  readonly permission?: string
  /** What callers need to write it. */
  readonly writePermission?: string
}

export interface XCrudItems {
  readonly type: FieldType
  /** Tokens of the filter language behind a quantifier; none where the field is not filterable. */
  readonly operators: readonly string[]
  /** The values of an enumeration. */
  readonly values?: readonly string[]
}

export interface XCrudAction {
  readonly name: string
  readonly on: 'record' | 'collection'
  readonly method: 'get' | 'post'
  /** Below the path of the collection, with the key of the record as `{id}`. */
  readonly path: string
  /** The answer: a record, `items`, nothing, or a value of its own. */
  readonly output: 'record' | 'list' | 'none' | 'value'
  /** The schema of its body, or of its parameters together; absent for an action without input. */
  readonly input?: JsonSchema
}

export interface XCrudRelation {
  readonly name: string
  readonly many: boolean
  /** The name of the schema of the records behind it; null where no resource is mounted over them. */
  readonly resource: string | null
  /** A reference where another tag has the same as its fields. */
  readonly fields: readonly XCrudField[] | DocumentReference
  /** The row that links a record of a many-to-many, as a member of it; absent where paths do not lead there. */
  readonly link?: XCrudLink
}

export interface XCrudLink {
  readonly name: string
  /** The name of the schema of the rows; null where no resource of the document is mounted over them. */
  readonly resource: string | null
  readonly fields: readonly XCrudField[]
}
