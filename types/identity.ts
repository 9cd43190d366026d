import type { Model } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Request } from './express.js'
import type { ResourceInfo } from './info.js'
import type { AttributeName } from './names.js'

/** Who is asking, as the host's identity function tells it. `null` in its place is an anonymous caller. */
export interface Identity {
  readonly name: string | null
  readonly roles: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
  readonly claims: Readonly<Record<string, unknown>>
}

/** What a policy or scope decides on. */
export interface PolicyContext {
  readonly request: Request
  readonly identity: Identity | null
  readonly operation: OperationName
  /** The name of the action that is asked for, which stands for the operation; absent for the operation itself. */
  readonly action?: string
  readonly resource: ResourceInfo
}

/** Admits by `true` and by nothing else. What it throws denies: a Problem with itself, anything else with a 500. */
export type Policy = (context: PolicyContext) => boolean | Promise<boolean>

/** A policy, or the name of one under `policies`. */
export type PolicyRef = string | Policy

type ScopeValue = string | number | boolean | null

/**
 * The values that the attributes of every record have: `{ tenantId: 7 }`. New records get them. An array is for any of its values,
 * and sets nothing; an empty one has no records.
 */
export type ScopeValues<M extends Model = Model> = {
  readonly [attribute in AttributeName<M>]?: ScopeValue | readonly ScopeValue[]
}

/**
 * The limit for all records of a request: values of attributes, a condition in the filter language, or both. The filter builder
 * writes conditions; attributes and associations have their own names there.
 */
export type Scope<M extends Model = Model> =
  | ScopeValues<M>
  | string
  | {
      readonly fixed?: ScopeValues<M>
      readonly where: string
    }

/** The scope of a request; `null` is unrestricted, by the host's explicit word. */
export type ScopeFunction<M extends Model = Model> = (
  context: PolicyContext,
) => Scope<M> | null | Promise<Scope<M> | null>

/** Tells who sends a request. @throws Problem 401 for credentials that do not hold */
export type IdentityFunction = (request: Request) => Identity | null | Promise<Identity | null>
