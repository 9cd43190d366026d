import type { Model, ModelStatic } from 'sequelize'
import type { OperationName, OperationTable, PolicyOption } from '../lib/operations.js'
import type { OptionShape } from './check.js'
import type { Documented } from './documented.js'
import type { CrudOptions } from './options.js'
import type { Behaviour, Facts, Resource } from './resource.js'
import type { Namespace } from './socket.js'

/**
 * An optional behaviour as a row of the table: the options that switch it on, and what it does then. Compile asks the
 * rows in order and folds what they give into one function a hook.
 */
export interface BehaviourDefinition {
  /** Its options, each with its check. Their types are declared beside it, as members of `CrudOptions`. */
  readonly options: OptionShape
  /** True where only routes and hubs have it, so that `queryOf` takes its options and leaves them alone. */
  readonly routesOnly?: true
  /** Reads the options, which have passed their checks. Null where the resource does without. @throws CrudConfigError */
  readonly prepare: (subject: Subject, options: CrudOptions) => Prepared | null
}

/** What a behaviour may know of the model when the resource is compiled. */
export interface Subject {
  readonly model: ModelStatic<Model>
  /** The resource's path below the mount point. */
  readonly route: string
  /** All operations, whether or not the resource has them. */
  readonly operations: OperationTable
  /** The attributes in which Sequelize keeps its time stamps. */
  readonly timestamps: Readonly<Partial<Record<'createdAt' | 'updatedAt' | 'deletedAt', string>>>
}

/** A behaviour that a resource has. */
export interface Prepared {
  /** The attributes that it writes by itself; those that the model lacks are added to it. */
  readonly attributes?: readonly WantedAttribute[]
  /** What is true of the resource because of it. */
  readonly facts?: Partial<Facts>
  /** What documents tell of it, where replies and their schemas alone do not. */
  readonly documented?: Partial<Documented>
  /** Where policies are required, the operations that none covers, with those that they lack. */
  readonly uncovered?: ReadonlyMap<OperationName, readonly PolicyOption[]>
  /** The same of actions, by name. */
  readonly uncoveredActions?: readonly string[]
  /**
   * Holds it against what is true of the resource because of the others, and against the names of all attributes that the model will
   * have and of computed fields. @throws CrudConfigError
   */
  readonly check?: (facts: Facts, attributes: readonly string[]) => void
  /** `jsonNames` are those of the attributes. */
  readonly behaviour: (jsonNames: ReadonlyMap<string, string>) => Behaviour
  /** Takes its namespace. Comes when nothing can be wrong any more, since it cannot be taken back. */
  readonly open?: () => { readonly namespace: Namespace; readonly serve: (resource: Resource) => void }
}

/** The kinds of attributes that behaviours maintain: a boolean, a number that rises, a point in time, a name. */
export type WantedKind = 'mark' | 'version' | 'instant' | 'name'

export interface WantedAttribute {
  readonly name: string
  readonly kind: WantedKind
  /** Whether every answer shows it, declared or not. */
  readonly shown?: boolean
}
