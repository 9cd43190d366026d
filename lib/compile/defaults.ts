import type { Model } from 'sequelize'
import type { OptionShape } from '../../types/check.js'
import type { CrudDefaults, CrudOptions } from '../../types/options.js'
import { BEHAVIOURS } from '../behaviours.js'
import { CrudConfigError } from '../common/errors.js'
import { isPlain } from '../config/inherited.js'
import { ConfigProblems } from '../config/problems.js'
import { OPERATIONS } from '../operations.js'
import { operationsOf } from './operations.js'
import { checkOptions, optionShape } from './options.js'

/** The options that are about one model, and no defaults. */
const OF_ONE_MODEL: ReadonlySet<string> = new Set<keyof CrudOptions>([
  'actions',
  'route',
  'keyProperty',
  'configure',
  'fields',
  'computed',
  'flatten',
  'names',
  'relations',
  'scope',
  'singleton',
  'mask',
  'hooks',
])

/** @throws CrudConfigError for defaults that no resource could take, before there is one */
export function assertDefaults(defaults: CrudDefaults): void {
  const all = optionShape(BEHAVIOURS)
  const { push } = all
  const problems = new ConfigProblems()
  const shared = Object.fromEntries(Object.entries(all).filter(([name]) => !OF_ONE_MODEL.has(name)))
  const { io, path: _, ...others } = push?.members ?? {}
  const shape: OptionShape =
    push === undefined || io === undefined ? shared : { ...shared, push: { ...push, members: { io, ...others } }, io }
  const given: Readonly<Record<string, unknown>> = isPlain(defaults) ? defaults : {}
  const misplaced = Object.keys(given).filter((name) => OF_ONE_MODEL.has(name))
  for (const name of misplaced) {
    const message = `createCrud: the option "${name}" is about one model and cannot be a default: give it to crudRouter.`
    problems.add(new CrudConfigError('INVALID_OPTION', message))
  }
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !OF_ONE_MODEL.has(name)))
  const checked = checkOptions('createCrud', isPlain(defaults) ? rest : defaults, shape, problems)
  problems.attempt(() => operationsOf('createCrud', checked, OPERATIONS, true))
  problems.throwIfAny()
}

/** The options of one resource with the defaults beneath them. What is no plain object is for the router to refuse. */
export function withDefaults<M extends Model>(
  { io, ...defaults }: CrudDefaults,
  options: CrudOptions<M>,
): CrudOptions<M> {
  if (!isPlain(options)) return options
  const shape = optionShape(BEHAVIOURS)
  const own: Readonly<Record<string, unknown>> = options
  const merged = new Map<string, unknown>(Object.entries(defaults).filter(([, value]) => value !== undefined))
  for (const [name, value] of Object.entries(own)) {
    // An option without which a resource is more open must not be there and undefined, which the router tells.
    if (value === undefined && shape[name]?.guards !== true && merged.has(name)) continue
    const beneath = merged.get(name)
    const settled = shape[name]?.guards === true ? value : withoutUndefined(value)
    merged.set(name, name === 'use' ? inOrder(beneath, value) : mergedOf(beneath, settled))
  }
  const push = merged.get('push')
  if (io !== undefined && push !== undefined && push !== false) merged.set('push', mergedOf({ io }, push))
  // Each name has a value of its own kind, or one that the router refuses.
  return Object.fromEntries(merged) as CrudOptions<M>
}

/** Objects are merged by member. `true` switches on what a default describes. */
function mergedOf(beneath: unknown, own: unknown): unknown {
  if (!isPlain(beneath)) return own
  if (own === true) return beneath
  return isPlain(own) ? { ...beneath, ...own } : own
}

/** The members that say something: the others leave those of the default. */
function withoutUndefined(value: unknown): unknown {
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}

function inOrder(beneath: unknown, own: unknown): unknown {
  return beneath === undefined ? own : [beneath, own].flat()
}
