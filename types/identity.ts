import type { Model } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Request } from './express.js'
import type { ResourceInfo } from './info.js'
import type { AttributeName } from './names.js'

/** The identity of a caller, as returned by the host's identity function. Anonymous callers have `null` instead. */
export interface Identity {
  readonly name: string | null
  readonly roles: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
  readonly claims: Readonly<Record<string, unknown>>
}

/** The argument of policies and scope functions. */
export interface PolicyContext {
  readonly request: Request
  readonly identity: Identity | null
  readonly operation: OperationName
  /** The name of the action that the request calls. Absent if the request calls no action. */
  readonly action?: string
  readonly resource: ResourceInfo
}

/** Allows the request by returning `true` only. A thrown Problem is the response; any other error is a 500. */
export type Policy = (context: PolicyContext) => boolean | Promise<boolean>

/** A policy, or the name of a policy in the option `policies`. */
export type PolicyRef = string | Policy

type ScopeValue = string | number | boolean | null

/**
 * Values that every visible record has: `{ tenantId: 7 }`. New records get these values. An array allows any of its
 * values and sets no value; an empty array matches no record.
 */
export type ScopeValues<M extends Model = Model> = {
  readonly [attribute in AttributeName<M>]?: ScopeValue | readonly ScopeValue[]
}

/**
 * The restriction of a request to some records: attribute values, a condition in the filter language, or both. The
 * filter builder writes conditions. Conditions use the model's own names of attributes and associations.
 */
export type Scope<M extends Model = Model> =
  | ScopeValues<M>
  | string
  | {
      readonly fixed?: ScopeValues<M>
      readonly where: string
    }

/** Returns the scope of a request. `null` means no restriction. */
export type ScopeFunction<M extends Model = Model> = (
  context: PolicyContext,
) => Scope<M> | null | Promise<Scope<M> | null>

/** Identifies the caller of a request; null is anonymous. @throws Problem 401 for invalid credentials */
export type IdentityFunction = (request: Request) => Identity | null | Promise<Identity | null>
