import { io, type Socket } from 'socket.io-client'
import { headersOf } from './callers.js'
import type { State } from './state.js'
import type { Tally } from './tally.js'

/** Maximum milliseconds between the reply to a write and the write's event. */
const LATEST = 15_000

/** A client of the items' hub. The client must receive an event for every acknowledged write. */
export class Listener {
  readonly #socket: Socket
  readonly #tally: Tally
  /**
   * Received events that are not expected yet, with their times. `#awaited` has expected events that have not arrived.
   */
  readonly #unexpected = new Map<string, number>()
  readonly #awaited = new Map<string, number>()
  readonly #sweep: NodeJS.Timeout

  constructor(port: number, totals: Tally) {
    this.#tally = totals
    const extraHeaders = { ...headersOf({ owner: 0, name: 'listener', money: true }) }
    this.#socket = io(`http://127.0.0.1:${port}/api/items/hub`, { extraHeaders, forceNew: true })
    this.#socket.on('OnCreated', (item: unknown) => this.#receive(`created ${Reflect.get(Object(item), 'code')}`))
    this.#socket.on('OnUpdated', (item: unknown) => this.#receive(updated(Object(item))))
    this.#socket.on('OnDeleted', (id: unknown) => this.#receive(`deleted ${id}`))
    // After a disconnect, real clients load the list again. Missing events are no longer expected.
    this.#socket.on('disconnect', () => {
      totals.events.breaks += 1
      this.#awaited.clear()
    })
    this.#sweep = setInterval(() => this.#forget(), 1000)
  }

  /** Resolves when the hub has accepted the client. */
  async ready(): Promise<void> {
    if (this.#socket.connected) return
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('connect', resolve)
      this.#socket.once('connect_error', reject)
    })
  }

  /** Expects the event of an acknowledged write. */
  expect(before: State, after: State): void {
    if (before.items === after.items || !this.#socket.connected) return
    for (const [code, item] of after.items) {
      const earlier = before.items.get(code)
      if (earlier === undefined) this.#await(`created ${code}`)
      else if (earlier.rowVersion !== item.rowVersion) this.#await(updated(item))
    }
    for (const [code, { id }] of before.items) if (!after.items.has(code)) this.#await(`deleted ${id}`)
  }

  /** Resolves when every expected event has arrived or is overdue. */
  async close(): Promise<void> {
    const deadline = Date.now() + LATEST + 2000
    while (this.#awaited.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 100))
    this.#socket.off('disconnect')
    this.#socket.close()
    clearInterval(this.#sweep)
  }

  #receive(event: string): void {
    if (this.#awaited.delete(event)) this.#tally.events.received += 1
    else this.#unexpected.set(event, Date.now())
  }

  #await(event: string): void {
    this.#tally.events.expected += 1
    if (this.#unexpected.delete(event)) this.#tally.events.received += 1
    else this.#awaited.set(event, Date.now())
  }

  #forget(): void {
    const since = Date.now() - LATEST
    for (const [event, at] of this.#awaited) {
      if (at > since) continue
      this.#awaited.delete(event)
      this.#tally.events.missed += 1
      this.#tally.fail(`the hub has not told of: ${event}`)
    }
    // An event may arrive before the reply to its write, but not this long before.
    for (const [event, at] of this.#unexpected) if (at < since - LATEST) this.#unexpected.delete(event)
  }
}

function updated({ code, rowVersion }: { readonly code?: unknown; readonly rowVersion?: unknown }): string {
  return `updated ${code} ${rowVersion}`
}
