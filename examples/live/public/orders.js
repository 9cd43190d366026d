/**
 * The orders as far as they are known. What a list, an event and the answer to a request tell of one order arrives in
 * any order; the newest state wins, and what is deleted stays so.
 */
export class Orders {
  #byId = new Map()
  #deleted = new Set()

  get size() {
    return this.#byId.size
  }

  get(id) {
    return this.#byId.get(id)
  }

  [Symbol.iterator]() {
    return this.#byId.values()
  }

  /** Returns whether this was news. */
  put(order) {
    const known = this.#byId.get(order.id)
    if (this.#deleted.has(order.id) || (known !== undefined && known.rowVersion >= order.rowVersion)) return false
    this.#byId.set(order.id, order)
    return true
  }

  /** Returns whether this was news. */
  delete(id) {
    this.#deleted.add(id)
    return this.#byId.delete(id)
  }
}
