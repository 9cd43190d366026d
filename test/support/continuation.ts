import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Replaces the package cls-hooked. The class has only the methods that Sequelize calls, built on Node's
 * AsyncLocalStorage.
 */
export class Namespace {
  readonly #storage = new AsyncLocalStorage<Map<string, unknown>>()

  run(work: (context: unknown) => unknown): void {
    this.#storage.run(new Map(this.#storage.getStore()), () => work(undefined))
  }

  bind<T>(work: T): T {
    return work
  }

  get(key: string): unknown {
    return this.#storage.getStore()?.get(key)
  }

  set(key: string, value: unknown): void {
    this.#storage.getStore()?.set(key, value)
  }
}
