import type { Model, ModelStatic } from 'sequelize'
import type { Resource } from '../../types/resource.js'
import { definedModel } from '../sequelize/model.js'

const mounted = new WeakMap<ModelStatic<Model>, Resource[]>()

// By the model as it was defined, for what must ask whoever mounted a variant of it.
const mountedOverAny = new WeakMap<ModelStatic<Model>, Resource[]>()

const known = new WeakMap<object, Resource>()

/** What was mounted once, among anything; null for anything else. */
export function resourceOf(given: unknown): Resource | null {
  const isObject = (typeof given === 'object' || typeof given === 'function') && given !== null
  return isObject ? (known.get(given) ?? null) : null
}

// Rises with every resource that mounts, so that what was resolved before is resolved again.
let generation = 0

/** Makes a resource one that relation paths ask for its consent. */
export function mount(resource: Resource): void {
  const { model } = resource
  known.set(resource, resource)
  mounted.set(model, [...(mounted.get(model) ?? []), resource])
  const defined = definedModel(model)
  mountedOverAny.set(defined, [...(mountedOverAny.get(defined) ?? []), resource])
  generation += 1
}

/** Takes that back: paths ask it no more, and those that it alone opened are closed. */
export function unmount(resource: Resource): void {
  for (const [over, model] of [
    [mounted, resource.model],
    [mountedOverAny, definedModel(resource.model)],
  ] as const) {
    over.set(
      model,
      (over.get(model) ?? []).filter((each) => each !== resource),
    )
  }
  generation += 1
}

/** The resources that are mounted over this very model. */
export function mountedOver(model: ModelStatic<Model>): readonly Resource[] {
  return mounted.get(model) ?? []
}

/** Those over the model that it is a variant of, and over others of its variants. */
export function mountedOverVariants(model: ModelStatic<Model>): readonly Resource[] {
  return mountedOverAny.get(definedModel(model)) ?? []
}

/** A function that is computed again only after something has mounted. */
export function perGeneration<T>(compute: () => T): () => T {
  let known: { readonly at: number; readonly value: T } | null = null
  return () => {
    if (known?.at !== generation) known = { at: generation, value: compute() }
    return known.value
  }
}
