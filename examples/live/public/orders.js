/**
 * The known orders. Lists, events and responses may arrive in any order. The newest version of an order wins, and a
 * deleted order stays deleted.
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

  /** Returns whether the order has changed. */
  put(order) {
    const known = this.#byId.get(order.id)
    if (this.#deleted.has(order.id) || (known !== undefined && known.rowVersion >= order.rowVersion)) return false
    this.#byId.set(order.id, order)
    return true
  }

  /** Returns whether the order was known. */
  delete(id) {
    this.#deleted.add(id)
    return this.#byId.delete(id)
  }
}
