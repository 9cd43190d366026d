import type { Model, ModelStatic } from 'sequelize'
import type { ResourceInfo } from '../../types/info.js'
import type { CrudOptions } from '../../types/options.js'
import type { Notifier, PushOptions } from '../../types/push.js'
import { compile, type Entry } from '../compile/index.js'
import { closerOf } from './close.js'
import { notifierOf } from './notifier.js'

/** A hub without routes. */
export interface CrudHub {
  /** Its `hub` is the namespace. */
  readonly resource: ResourceInfo
  /** Pushes what the host has written by itself. */
  readonly notify: Notifier
  /** Frees the path at once, and disconnects the clients when they have heard of what was told before. */
  readonly close: () => Promise<void>
}

/** The options of `crudRouter`, those of `push` among them. */
export type CrudHubOptions<M extends Model = Model> = Omit<CrudOptions<M>, 'push'> & PushOptions

const HUB: Entry = {
  name: 'crudHub',
  unfit: {
    use: 'no request passes it',
    configure: 'it makes no router',
    hooks: 'it writes nothing',
    requirePolicies: 'it has no operations',
  },
}

/**
 * Opens a hub for a model without serving it: fields, masks, policies and scope say who may see what, and the host says
 * when, by `notify`.
 *
 * @throws CrudConfigError for wrong options, with a stable code, and for what only routes can honour: `use`, `configure`, `hooks`
 */
export function crudHub<M extends Model>(model: ModelStatic<M>, options: CrudHubOptions<NoInfer<M>>): CrudHub {
  // What is no object is for compile to refuse.
  const { io, path, audience, ...rest } = options ?? {}
  const push = Object.fromEntries(Object.entries({ io, path, audience }).filter(([, value]) => value !== undefined))
  const resource = compile(model, { ...(rest as CrudOptions<M>), push }, HUB)
  const notify = notifierOf(resource)
  if (notify === null) throw new TypeError(`${model.name}: the hub was not opened`)
  return Object.freeze({ resource, notify, close: closerOf(resource) })
}
