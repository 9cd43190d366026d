export type { ActionContext, ActionOptions, CollectionActionOptions, RecordActionOptions } from '../types/action.js'
export type { AsyncApiDocument, AsyncApiOptions, AsyncApiServer } from '../types/asyncApi.js'
export type { ComputedContext, ComputedField, ComputedRecord, ComputedResolver } from '../types/computed.js'
export type { Field, FieldType, JsonValue, Target } from '../types/field.js'
export type { ActionHook, ActionHookContext, Hook, HookContext, Hooks } from '../types/hooks.js'
export type {
  Identity,
  IdentityFunction,
  Policy,
  PolicyContext,
  PolicyRef,
  Scope,
  ScopeFunction,
  ScopeValues,
} from '../types/identity.js'
export type { ResourceInfo, ResourceInfo as Resource } from '../types/info.js'
export type { MessageCode, MessageParameters, Messages } from '../types/messages.js'
export type { AttributeName } from '../types/names.js'
export type {
  ApiDocsOptions,
  ClientTypesOptions,
  Documentable,
  DocumentedResource,
  DocumentInfo,
  DocumentOptions,
  DocumentSecurity,
  DocumentUrls,
  JsonSchema,
  OpenApiDocument,
  OpenApiVersion,
  XCrud,
  XCrudAction,
  XCrudField,
  XCrudItems,
  XCrudLink,
  XCrudRelation,
} from '../types/openApi.js'
export type {
  CrudDefaults,
  CrudOptions,
  ExportOptions,
  FieldOptions,
  FieldRules,
  NamedKind,
  NamingFunction,
  QueryOptions,
  RelationOptions,
} from '../types/options.js'
export type { OwnRoutes } from '../types/ownRoutes.js'
export type { Notifier, PushEvent, PushOptions } from '../types/push.js'
export type {
  Comparison,
  Direction,
  FilterNode,
  Junction,
  Operand,
  Operator,
  Path,
  Quantified,
  Quantifier,
  SortNode,
} from '../types/query.js'
export type {
  BulkDeleteResult,
  CountResult,
  CursorPage,
  FormatFunction,
  Group,
  GroupPage,
  Items,
  KeysetPage,
  LinkResult,
  Page,
  ProblemBody,
  UnformattedReply,
  UpsertResult,
} from '../types/reply.js'
export type { OperationName } from '../types/resource.js'
export type { Limits } from '../types/settings.js'
export type { CreateOf, EventsOf, ListItemOf, PatchOf, RowOf, ShapeOptions } from '../types/shapes.js'
export type {
  EventMessage,
  MountedRoute,
  MountMessage,
  RequestMessage,
  StatementMessage,
  WatchedError,
} from '../types/trace.js'
export type {
  AuditOptions,
  ConcurrencyOptions,
  IdempotencyOptions,
  MaskOptions,
  SoftDeleteOptions,
} from './behaviours.js'
export {
  type ConfigErrorCode,
  type ConfigProblem,
  CrudConfigError,
  QueryLimitError,
  QuerySyntaxError,
} from './common/errors.js'
export { errorText } from './common/log.js'
export { Problem, type ProblemCode, type ProblemErrors, type ProblemOptions } from './common/problem.js'
export type { RoutedModels, RoutedOptions } from './compile/routedModels.js'
export { type Crud, createCrud } from './http/createCrud.js'
export { type CrudHandler, createHandler, type HandlerReply, type HandlerRequest } from './http/createHandler.js'
export { type ProblemHandlerOptions, problemHandler } from './http/problemHandler.js'
export { type CrudController, type CrudRouter, crudController, crudRouter } from './http/router.js'
export type { CrudRouters } from './http/routers.js'
export {
  identityFromRequest,
  type JwtAlgorithm,
  type JwtIdentityOptions,
  type JwtTokenHeader,
  jwtIdentity,
  type KeyLookup,
} from './identity/identity.js'
export { allOf, anyOf, authenticated, hasPermission, hasRole, not } from './identity/policies.js'
export { escapeFilterValue, filter } from './language/filter.js'
export { parseFilter, parseSelect, parseSort } from './language/query.js'
export { apiDocs } from './openapi/apiDocs.js'
export { asyncApi } from './openapi/asyncApi.js'
export { clientTypes } from './openapi/clientTypes.js'
export { openApi } from './openapi/openApi.js'
export { Operations } from './operations.js'
export { type CrudHub, type CrudHubOptions, crudHub } from './push/crudHub.js'
export { queryOf, type ResourceQuery } from './queryOf.js'
