import type { Model, ModelStatic } from 'sequelize'
import type { CrudDefaults, CrudOptions } from '../../types/options.js'
import { CrudConfigError, combineConfigErrors } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { createInheritedError, findInheritedMember } from '../config/inherited.js'
import type { ConfigProblems } from '../config/problems.js'
import { createUnknownNameError } from '../config/suggest.js'
import { isIdempotencyModel } from '../sequelize/idempotencyRecords.js'
import { definedModel } from '../sequelize/model.js'
import { withDefaults } from './defaults.js'

/** The models of `crud.routers`: an array, or `sequelize.models`. */
export type RoutedModels = readonly ModelStatic<Model>[] | { readonly [name: string]: ModelStatic<Model> }

/** Options by model name. `false` skips the model. */
export interface RoutedOptions {
  readonly [name: string]: CrudOptions | false
}

/** Pairs each model with the options of its router. Adds errors to `problems`. */
export function resolveRoutedModels(
  defaults: CrudDefaults,
  given: RoutedModels,
  options: RoutedOptions,
  problems: ConfigProblems,
): readonly (readonly [model: ModelStatic<Model>, options: CrudOptions])[] {
  const models = problems.attempt(() => readModels(given))
  const routed = problems.attempt(() => readRoutedOptions(options))
  if (models === undefined || routed === undefined) return []
  const storeModels = new Set([defaults, ...Object.values(routed)].map(configuredIdempotencyModelOf))
  const own = models.filter(
    (model) => !isModel(model) || !(storeModels.has(definedModel(model)) || isIdempotencyModel(model)),
  )
  const names = own.map(modelNameOf)
  for (const name of Object.keys(routed)) {
    if (!names.includes(name)) problems.add(createUnknownNameError('UNKNOWN_MODEL', 'routers: the model', name, names))
  }
  return own.flatMap((model) => {
    const name = modelNameOf(model)
    const chosen = Object.hasOwn(routed, name) ? routed[name] : {}
    return chosen === false
      ? []
      : [[model, withDefaults({ requirePolicies: true, ...defaults }, chosen ?? {})] as const]
  })
}

function readModels(given: unknown): readonly ModelStatic<Model>[] {
  const isSequelize = isObject(given) && isObject(given.models)
  const models: unknown = isObject(given) && !isSequelize ? Object.values(given) : given
  if (Array.isArray(models)) return [...new Set(models)]
  throw new CrudConfigError(
    'NOT_A_MODEL',
    'routers: the first argument must be an array of models or sequelize.models.',
  )
}

/**
 * Checks the options by model name. An undefined entry is refused: ignoring a misspelt name would mount a model that
 * the host wants to skip.
 */
function readRoutedOptions(given: unknown): RoutedOptions {
  if (!isObject(given))
    throw new CrudConfigError('INVALID_OPTION', 'routers: the options must be an object with names of models as keys.')
  const inherited = findInheritedMember(given)
  if (inherited !== null) throw createInheritedError('routers: options', inherited)
  const wrong = Object.entries(given).flatMap(([name, value]) =>
    value === false || isObject(value)
      ? []
      : [new CrudConfigError('INVALID_OPTION', `routers: the options of "${name}" must be an object or false.`)],
  )
  const [first, ...others] = wrong
  if (first !== undefined) throw combineConfigErrors([first, ...others])
  return given as RoutedOptions
}

/** Returns the name of a model; empty for other values, which the router refuses later. */
function modelNameOf(model: unknown): string {
  return isModel(model) ? model.name : ''
}

function isModel(model: unknown): model is ModelStatic<Model> {
  return typeof model === 'function'
}

/** Returns the host's model of idempotency records, if the option names one. */
function configuredIdempotencyModelOf(options: CrudDefaults | CrudOptions | false): ModelStatic<Model> | undefined {
  const idempotency = options === false ? undefined : options.idempotency
  const model: unknown = typeof idempotency === 'object' ? idempotency?.model : undefined
  return isModel(model) ? definedModel(model) : undefined
}
