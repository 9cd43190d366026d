export type { Field, FieldType, JsonValue, Target } from '../types/field.js'
export type { Hook, HookContext, Hooks } from '../types/hooks.js'
export type {
  Identity,
  IdentityFunction,
  Policy,
  PolicyContext,
  PolicyRef,
  Scope,
  ScopeFunction,
} from '../types/identity.js'
export type { CrudDefaults, CrudOptions, FieldOptions, FieldRules, Limits, QueryOptions } from '../types/options.js'
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
export type { OperationName, Resource } from '../types/resource.js'
export type { CreateOf, EventsOf, ListItemOf, PatchOf, RowOf, ShapeOptions } from '../types/shapes.js'
export { Operations } from './compile/options.js'
export { type CrudHub, type CrudHubOptions, crudHub } from './crudHub.js'
export { CrudConfigError, QueryLimitError, QuerySyntaxError } from './errors.js'
export { escapeFilterValue, filter } from './filter.js'
export {
  identityFromRequest,
  type JwtAlgorithm,
  type JwtIdentityOptions,
  type JwtTokenHeader,
  jwtIdentity,
  type KeyLookup,
} from './identity.js'
export { parseFilter, parseSelect, parseSort } from './parse/query.js'
export { allOf, anyOf, authenticated, hasPermission, hasRole, not } from './policies.js'
export { Problem, type ProblemErrors, type ProblemOptions } from './problem.js'
export { type ProblemHandlerOptions, problemHandler } from './problemHandler.js'
export { queryOf, type ResourceQuery } from './queryOf.js'
export { type CrudController, type CrudRouter, createCrud, crudController, crudRouter } from './router.js'
