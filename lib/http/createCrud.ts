import type { Model, ModelStatic } from 'sequelize'
import type { KnownNames, WithDefaults } from '../../types/carrier.js'
import type { CrudDefaults, OptionsWithComputed } from '../../types/options.js'
import { assertDefaults, withDefaults } from '../compile/defaults.js'
import { TABLES } from '../compile/index.js'
import type { RoutedModels, RoutedOptions } from '../compile/routedModels.js'
import { type CrudController, type CrudRouter, createController, createRouter, type Written } from './router.js'
import { type CrudRouters, mountRouters } from './routers.js'

/**
 * The functions `crudRouter` and `crudController` with shared defaults, and `routers` for several models. The types of
 * routers include the defaults.
 */
export interface Crud<D = object> {
  readonly crudRouter: <M extends Model, const O extends OptionsWithComputed<NoInfer<M>> = object>(
    model: ModelStatic<M>,
    options?: Written<M, O>,
  ) => CrudRouter<M, WithDefaults<D, O>>
  readonly crudController: <M extends Model, const O extends OptionsWithComputed<NoInfer<M>> = object>(
    model: ModelStatic<M>,
    options?: Written<M, O>,
  ) => CrudController<M, WithDefaults<D, O>>
  /**
   * Returns one router for an array of models, or for all models of `sequelize.models` except this package's own
   * models. The keys of `options` are model names; `false` leaves a model out. Policies are required unless
   * `requirePolicies` is `false`.
   *
   * @throws CrudConfigError with the problems of all models
   */
  readonly routers: (models: RoutedModels, options?: RoutedOptions) => CrudRouters
}

/**
 * Returns `crudRouter` and `crudController` with shared defaults. Options of a single router override the defaults.
 * Object options are merged by member. Handlers in `use` run after the handlers of the defaults.
 *
 * @throws CrudConfigError for wrong defaults, and for options that only one model can have
 */
export function createCrud<const D extends CrudDefaults = object>(
  given?: CrudDefaults & D & NoInfer<KnownNames<D, CrudDefaults>>,
): Crud<D> {
  const defaults: CrudDefaults = given === undefined ? {} : given
  assertDefaults(defaults)
  return {
    crudRouter: (model, options) => createRouter(TABLES, model, withDefaults(defaults, options ?? {})),
    crudController: (model, options) => createController(model, withDefaults(defaults, options ?? {})),
    routers: (models, options = {}) => mountRouters(defaults, models, options),
  }
}
