import type { Model } from 'sequelize'
import type { OptionShape } from '../../types/check.js'
import type { CrudDefaults, CrudOptions } from '../../types/options.js'
import { BEHAVIOURS } from '../behaviours.js'
import { CrudConfigError } from '../common/errors.js'
import { isPlainObject } from '../config/inherited.js'
import { ConfigProblems } from '../config/problems.js'
import { OPERATIONS } from '../operations.js'
import { resolveOperations } from './operations.js'
import { checkOptions, optionShape } from './options.js'

/** The options of one model, which cannot be defaults. */
const SINGLE_MODEL_OPTIONS: ReadonlySet<string> = new Set<keyof CrudOptions>([
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

/** Checks the options of `createCrud`. @throws CrudConfigError for defaults that no resource could use */
export function assertDefaults(defaults: CrudDefaults): void {
  const all = optionShape(BEHAVIOURS)
  const { push } = all
  const problems = new ConfigProblems()
  const shared = Object.fromEntries(Object.entries(all).filter(([name]) => !SINGLE_MODEL_OPTIONS.has(name)))
  const { io, path: _, ...others } = push?.members ?? {}
  const shape: OptionShape =
    push === undefined || io === undefined ? shared : { ...shared, push: { ...push, members: { io, ...others } }, io }
  const given: Readonly<Record<string, unknown>> = isPlainObject(defaults) ? defaults : {}
  const misplaced = Object.keys(given).filter((name) => SINGLE_MODEL_OPTIONS.has(name))
  for (const name of misplaced) {
    const message = `createCrud: the option "${name}" applies to a single model and cannot be a default. Pass it to crudRouter.`
    problems.add(new CrudConfigError('INVALID_OPTION', message))
  }
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !SINGLE_MODEL_OPTIONS.has(name)))
  const checked = checkOptions('createCrud', isPlainObject(defaults) ? rest : defaults, shape, problems)
  problems.attempt(() => resolveOperations('createCrud', checked, OPERATIONS, true))
  problems.throwIfAny()
}

/**
 * Merges the options of one resource over the defaults. Options that are not a plain object stay unchanged, because the
 * router refuses them.
 */
export function withDefaults<M extends Model>(
  { io, ...defaults }: CrudDefaults,
  options: CrudOptions<M>,
): CrudOptions<M> {
  if (!isPlainObject(options)) return options
  const shape = optionShape(BEHAVIOURS)
  const own: Readonly<Record<string, unknown>> = options
  const merged = new Map<string, unknown>(Object.entries(defaults).filter(([, value]) => value !== undefined))
  for (const [name, value] of Object.entries(own)) {
    // An undefined option has no effect, unless the option protects the resource. Such an option stays undefined, so
    // that the router refuses it.
    if (value === undefined && shape[name]?.isRestrictive !== true && merged.has(name)) continue
    const beneath = merged.get(name)
    const settled = shape[name]?.isRestrictive === true ? value : omitUndefinedMembers(value)
    merged.set(name, name === 'use' ? joinHandlers(beneath, value) : mergeValues(beneath, settled))
  }
  const push = merged.get('push')
  if (io !== undefined && push !== undefined && push !== false) merged.set('push', mergeValues({ io }, push))
  // The router checks the types of the merged values.
  return Object.fromEntries(merged) as CrudOptions<M>
}

/** Merges objects by member. `true` enables the option with the default's settings. */
function mergeValues(beneath: unknown, own: unknown): unknown {
  if (!isPlainObject(beneath)) return own
  if (own === true) return beneath
  return isPlainObject(own) ? { ...beneath, ...own } : own
}

/** Removes undefined members, so that the members of the default apply. */
function omitUndefinedMembers(value: unknown): unknown {
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}

function joinHandlers(beneath: unknown, own: unknown): unknown {
  return beneath === undefined ? own : [beneath, own].flat()
}
