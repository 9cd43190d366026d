import type { Model, ModelStatic } from 'sequelize'
import type { Resource } from '../../types/resource.js'
import { definedModel } from '../sequelize/model.js'

const resourcesByModel = new WeakMap<ModelStatic<Model>, Resource[]>()

// Resources by the model as defined. The variants of a model (`Model.scope()`) share its entry.
const resourcesByDefinedModel = new WeakMap<ModelStatic<Model>, Resource[]>()

const mountedResources = new WeakMap<object, Resource>()

/** Returns the resource of a mounted value; null for any other value. */
export function resourceOf(given: unknown): Resource | null {
  const isObject = (typeof given === 'object' || typeof given === 'function') && given !== null
  return isObject ? (mountedResources.get(given) ?? null) : null
}

// Increases with every mount and unmount, so that results cached before are computed again.
let generation = 0

/** Registers a resource, so that relation paths to its model evaluate its policies. */
export function mount(resource: Resource): void {
  const { model } = resource
  mountedResources.set(resource, resource)
  resourcesByModel.set(model, [...(resourcesByModel.get(model) ?? []), resource])
  const defined = definedModel(model)
  resourcesByDefinedModel.set(defined, [...(resourcesByDefinedModel.get(defined) ?? []), resource])
  generation += 1
}

/** Unregisters a resource. Paths that only this resource opened are closed. */
export function unmount(resource: Resource): void {
  for (const [over, model] of [
    [resourcesByModel, resource.model],
    [resourcesByDefinedModel, definedModel(resource.model)],
  ] as const) {
    over.set(
      model,
      (over.get(model) ?? []).filter((each) => each !== resource),
    )
  }
  generation += 1
}

/** Returns the resources over exactly this model, without variants. */
export function resourcesOver(model: ModelStatic<Model>): readonly Resource[] {
  return resourcesByModel.get(model) ?? []
}

/** Returns the resources over the model and all its variants. */
export function resourcesOverVariants(model: ModelStatic<Model>): readonly Resource[] {
  return resourcesByDefinedModel.get(definedModel(model)) ?? []
}

/** Caches a function's result until the next mount or unmount. */
export function cacheUntilMount<T>(compute: () => T): () => T {
  let known: { readonly at: number; readonly value: T } | null = null
  return () => {
    if (known?.at !== generation) known = { at: generation, value: compute() }
    return known.value
  }
}
