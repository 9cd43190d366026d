import { getOrCreate } from './getOrCreate.js'

/**
 * The in-flight requests of all resources that began between two calls of `close`. Requests of other resources are
 * included, because their relations may use the resource that closes.
 */
export class RequestGroup {
  #inFlight = 0
  #resolveEnd: (() => void) | null = null

  begin(): void {
    this.#inFlight += 1
  }

  end(): void {
    this.#inFlight -= 1
    if (this.#inFlight === 0) this.#resolveEnd?.()
  }

  /** Resolves when all requests of the group have ended. */
  whenEnded(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const before = this.#resolveEnd
      this.#resolveEnd = () => {
        before?.()
        resolve()
      }
    })
  }
}

let currentGroup = new RequestGroup()
const earlierGroups = new Set<RequestGroup>()

/** A streamed response, which may take as long as the client reads. */
export interface AbortableResponse {
  readonly abort: () => void
  readonly whenClosed: (listener: () => void) => void
}

/** The graceful shutdown of one resource: whether it accepts requests, and its streamed responses. */
export class ShutdownState {
  readonly #streams = new Set<AbortableResponse>()
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Counts a new request. Callers must call `end` on the returned group. */
  begin(): RequestGroup {
    currentGroup.begin()
    return currentGroup
  }

  /** Registers a streamed response, so that `close` can end it. */
  addStream(file: AbortableResponse): void {
    this.#streams.add(file)
    file.whenClosed(() => this.#streams.delete(file))
  }

  /**
   * Rejects new requests. Resolves when all earlier requests of any resource have ended, at the latest after `within`
   * milliseconds. Streams that are still open are aborted.
   */
  async close(within: number): Promise<void> {
    this.#isClosed = true
    const group = currentGroup
    currentGroup = new RequestGroup()
    earlierGroups.add(group)
    void group.whenEnded().then(() => earlierGroups.delete(group))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, within)
    })
    await Promise.race([Promise.all([...earlierGroups].map((each) => each.whenEnded())), late])
    clearTimeout(timer)
    for (const file of this.#streams) file.abort()
  }
}

const states = new WeakMap<object, ShutdownState>()

/** Returns the shutdown state of a resource. */
export function shutdownStateOf(resource: object): ShutdownState {
  return getOrCreate(states, resource, () => new ShutdownState())
}
