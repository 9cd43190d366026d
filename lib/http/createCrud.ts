import type { CrudDefaults } from '../../types/options.js'
import { assertDefaults, withDefaults } from '../compile/defaults.js'
import { TABLES } from '../compile/index.js'
import { controllerWith, type crudController, type crudRouter, routerWith } from './router.js'

/** `crudRouter` and `crudController` with defaults. */
export interface Crud {
  readonly crudRouter: typeof crudRouter
  readonly crudController: typeof crudController
}

/**
 * `crudRouter` and `crudController` with shared defaults. The options of a call win, objects are merged by member, and
 * handlers in `use` run after those of the defaults.
 *
 * @throws CrudConfigError for wrong defaults, and for options that are about one model
 */
export function createCrud(defaults: CrudDefaults = {}): Crud {
  assertDefaults(defaults)
  return {
    crudRouter: (model, options) => routerWith(TABLES, model, withDefaults(defaults, options ?? {})),
    crudController: (model, options) => controllerWith(model, withDefaults(defaults, options ?? {})),
  }
}
