import type { Model, ModelStatic } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Field } from './field.js'
import type { Limits, QuerySettings, ShapeNames } from './settings.js'
import type { Namespace } from './socket.js'

/** The public description of a resource. Frozen when it is mounted. */
export interface ResourceInfo {
  /** The model's name. */
  readonly name: string
  readonly model: ModelStatic<Model>
  /** The path below the mount point, with a leading slash: `/api/players`. */
  readonly route: string
  /** The key's field; for a composite key, its first field. */
  readonly key: Field
  /** All fields of the key, in the model's order. */
  readonly keys: readonly Field[]
  /** Whether cursor pages exist for the key's type. */
  readonly keyset: boolean
  readonly operations: ReadonlySet<OperationName>
  readonly fields: readonly Field[]
  /** The to-one associations and JSON attributes that are flattened into the response. */
  readonly flatten: readonly string[]
  /** The names of the resource's schemas in documents. */
  readonly names: Required<ShapeNames>
  readonly query: QuerySettings
  readonly limits: Limits
  /** True if DELETE marks records, so that deleted records can be listed and restored. */
  readonly softDeletes: boolean
  /** The Socket.IO namespace of push events; null without `push`. */
  readonly hub: Namespace | null
}
