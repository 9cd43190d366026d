import type { Model, ModelStatic } from 'sequelize'
import type { OperationName, OperationTable, PolicyOption } from '../lib/operations.js'
import type { OptionShape } from './check.js'
import type { Documented } from './documented.js'
import type { CrudOptions } from './options.js'
import type { Behaviour, Facts, Resource } from './resource.js'
import type { Namespace } from './socket.js'

/**
 * A row of the table of optional behaviours: its options and its hooks. `lib/compile/behaviours.ts` prepares the rows
 * in order and combines their functions for each hook.
 */
export interface BehaviourDefinition {
  /**
   * The behaviour's options, each with its check. Their types are members of `CrudOptions`, declared in the behaviour's
   * file.
   */
  readonly options: OptionShape
  /** True if the behaviour exists only for routes and hubs. `queryOf` accepts its options and ignores them. */
  readonly isRouteOnly?: true
  /** Reads the checked options. Returns null if the resource does not use the behaviour. @throws CrudConfigError */
  readonly prepare: (subject: BehaviourSubject, options: CrudOptions) => PreparedBehaviour | null
}

/** Facts about the model that a behaviour may use at compile time. */
export interface BehaviourSubject {
  readonly model: ModelStatic<Model>
  /** The resource's path below the mount point. */
  readonly route: string
  /** All operations, enabled or not. */
  readonly operations: OperationTable
  /** The attributes of Sequelize's timestamps. */
  readonly timestamps: Readonly<Partial<Record<'createdAt' | 'updatedAt' | 'deletedAt', string>>>
}

/** A behaviour prepared for one resource. */
export interface PreparedBehaviour {
  /** Server-managed attributes of the behaviour. Attributes that the model lacks are added to the model. */
  readonly attributes?: readonly ManagedAttribute[]
  /** Facts about the resource that follow from the behaviour. */
  readonly facts?: Partial<Facts>
  /** Facts about the behaviour for OpenAPI and AsyncAPI documents. */
  readonly documented?: Partial<Documented>
  /**
   * Operations without a policy, each with the options that can set its policy. Present only if policies are required.
   */
  readonly operationsWithoutPolicy?: ReadonlyMap<OperationName, readonly PolicyOption[]>
  /** Names of actions without a policy. Present only if policies are required. */
  readonly actionsWithoutPolicy?: readonly string[]
  /**
   * Checks the behaviour against the facts of the other behaviours and the names of all attributes and computed fields.
   * @throws CrudConfigError
   */
  readonly check?: (facts: Facts, attributes: readonly string[]) => void
  /** Creates the behaviour's hooks. `jsonNames` has the JSON name of each attribute. */
  readonly behaviour: (jsonNames: ReadonlyMap<string, string>) => Behaviour
  /** Opens the Socket.IO namespace. Runs after all checks, since a namespace cannot be closed again. */
  readonly openNamespace?: () => { readonly namespace: Namespace; readonly serve: (resource: Resource) => void }
}

/**
 * The kinds of server-managed attributes. `flag` is a boolean, `version` a rising integer, `dateTime` a date-time,
 * `text` a text.
 */
export type ManagedAttributeKind = 'flag' | 'version' | 'dateTime' | 'text'

export interface ManagedAttribute {
  readonly name: string
  readonly kind: ManagedAttributeKind
  /** Whether every response has the attribute, also if the model does not declare it. */
  readonly isAlwaysShown?: boolean
}
