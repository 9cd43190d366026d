import type { CrudOptions } from '../../types/options.js'
import type { BehaviourSettings } from '../behaviour/index.js'
import { CrudConfigError } from '../errors.js'
import { Hub } from '../push/hub.js'

/** Pass: the hub that the options ask for, not yet open; null for none. @throws CrudConfigError */
export function hubOf(model: string, route: string, { push }: CrudOptions): Hub | null {
  if (push === undefined || push === false) return null
  const { io, path = `${route}/hub` } = push === true ? {} : push
  if (io !== undefined) return new Hub({ io, path: path.startsWith('/') ? path : `/${path}` })
  throw new CrudConfigError('INVALID_OPTION', `${model}: push needs a Socket.IO server: { io }, or createCrud({ io }).`)
}

/** Pass: what goes to all hides nothing from anybody. @throws CrudConfigError */
export function checkAudience(
  model: string,
  { push }: CrudOptions,
  { policies, masks, scope }: Pick<BehaviourSettings, 'policies' | 'masks' | 'scope'>,
): void {
  if (typeof push !== 'object' || push.audience !== 'all') return
  if (policies === null && masks === null && scope === null) return
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${model}: push.audience is "all", but the resource has policies, masks or a scope.`,
  )
}
