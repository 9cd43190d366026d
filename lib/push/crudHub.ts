import type { Model, ModelStatic } from 'sequelize'
import type { ResourceInfo } from '../../types/info.js'
import type { CrudOptions } from '../../types/options.js'
import type { Notifier, PushOptions } from '../../types/push.js'
import { internalError } from '../common/internalError.js'
import { compile, type EntryPoint } from '../compile/index.js'
import { createClose } from './close.js'
import { createNotifier } from './notifier.js'

/** A Socket.IO hub of a model that has no HTTP routes. */
export interface CrudHub {
  /** Describes the resource. `resource.hub` is the path of the namespace. */
  readonly resource: ResourceInfo
  /** Sends events for records that the host has written itself. */
  readonly notify: Notifier
  /** Frees the path at once. Sends the events of earlier notifications, and disconnects the clients afterwards. */
  readonly close: () => Promise<void>
}

/** Options of `crudRouter`, with the members of `push` at the top level. */
export type CrudHubOptions<M extends Model = Model> = Omit<CrudOptions<M>, 'push'> & PushOptions

const HUB: EntryPoint = {
  name: 'crudHub',
  unsupported: {
    use: 'it handles no requests',
    configure: 'it creates no router',
    hooks: 'it writes nothing',
    requirePolicies: 'it has no operations',
  },
}

/**
 * Opens a hub for a model without serving routes. Fields, masks, policies and scope decide what each client sees. The
 * host sends events by calling `notify`.
 * @throws CrudConfigError for wrong options, and for `use`, `configure` and `hooks`, which need routes
 */
export function crudHub<M extends Model>(model: ModelStatic<M>, options: CrudHubOptions<NoInfer<M>>): CrudHub {
  // `compile` reports options that are not an object.
  const { io, path, audience, ...rest } = options ?? {}
  const push = Object.fromEntries(Object.entries({ io, path, audience }).filter(([, value]) => value !== undefined))
  const resource = compile(model, { ...(rest as CrudOptions<M>), push }, HUB)
  const notify = createNotifier(resource)
  if (notify === null) throw internalError(`the hub of ${model.name} was not opened`)
  return Object.freeze({ resource, notify, close: createClose(resource) })
}
