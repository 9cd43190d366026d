import { AsyncLocalStorage } from 'node:async_hooks'

/** What cls-hooked offers, as far as Sequelize asks for it, over Node's own storage. */
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
