import { Router } from 'express'
import type { Model } from 'sequelize'
import type { CrudDefaults } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { logError } from '../common/log.js'
import { TABLES, undoModelChanges } from '../compile/index.js'
import { resourceOf, unmount } from '../compile/mounted.js'
import { type RoutedModels, type RoutedOptions, resolveRoutedModels } from '../compile/routedModels.js'
import { ConfigProblems } from '../config/problems.js'
import type { Close } from '../push/close.js'
import { type CrudRouter, createRouter } from './router.js'

/** The routers of several models, combined into one. */
export type CrudRouters = Router & {
  /** The routers in the order of the models, for example for `apiDocs`. */
  readonly resources: readonly CrudRouter[]
  /** Closes all routers. */
  readonly close: Close
}

/**
 * Mounts several models. After an error none of them stays mounted.
 *
 * @throws CrudConfigError with the problems of all models
 */
export function mountRouters(defaults: CrudDefaults, given: RoutedModels, options: RoutedOptions): CrudRouters {
  const problems = new ConfigProblems()
  const routed = resolveRoutedModels(defaults, given, options, problems)
  const resources: CrudRouter[] = []
  try {
    for (const [model, all] of routed)
      problems.attempt(() => resources.push(createRouter<Model, object>(TABLES, model, all)))
    assertDistinctRoutes(resources, problems)
    problems.throwIfAny()
  } catch (error) {
    for (const router of resources) unmountRouter(router)
    throw error
  }
  const router = Router({ mergeParams: true })
  for (const each of resources) router.use(each)
  const close: Close = async (settings) => {
    await Promise.all(resources.map((each) => each.close(settings)))
  }
  return Object.assign(router, { resources: Object.freeze(resources), close })
}

/**
 * Rejects two routers at one path. Otherwise the first router would answer all requests, with 405 for operations that
 * it lacks. Express ignores case.
 */
function assertDistinctRoutes(routers: readonly CrudRouter[], problems: ConfigProblems): void {
  const owners = new Map<string, string>()
  for (const { resource } of routers) {
    const { name, route } = resource
    const other = owners.get(route.toLowerCase())
    if (other === undefined) {
      owners.set(route.toLowerCase(), name)
      continue
    }
    const message = `routers: ${other} and ${name} are both mounted at "${route}": give one of them another "route".`
    problems.add(new CrudConfigError('INVALID_OPTION', message))
  }
}

function unmountRouter({ resource, close }: CrudRouter): void {
  const compiled = resourceOf(resource)
  if (compiled !== null) {
    undoModelChanges(compiled)
    unmount(compiled)
  }
  close().catch((failed: unknown) => logError(failed))
}
