import { tooMany } from './time.js'

/** A write that may be done at once with others of its kind, where they wait for their turn behind it. */
export interface Joint<T> {
  /** What they have in common, the same object for all of them. */
  readonly kind: object
  /** What it is about, of which there is only one among those that are done at once; null for what nothing else is about yet. */
  readonly subject: string | null
  /** Whether nobody waits for it any more. */
  readonly isLeft: boolean
  readonly alone: () => Promise<T>
  /** Does all of these in their order. What it gives nothing for is done by itself, at its turn. */
  readonly together: (all: readonly Joint<T>[]) => Promise<Results<T>>
}

/** What came of each. */
export type Results<T> = ReadonlyMap<Joint<T>, readonly [T]>

/** How many are done at once: of each number a statement is kept, and four by four they take no longer than seven and one by turns. */
export const TOGETHER: readonly number[] = [8, 4, 2]

const [MOST = 1] = TOGETHER

interface Waiting<T> {
  readonly joint: Joint<T> | null
  /** What comes of those that it is done with; null before that. */
  group: Promise<Results<T>> | null
}

/** Runs one after the other what it is given. */
export class WriteQueue<J> {
  #last: Promise<unknown> = Promise.resolve()
  /** The running one not among them. */
  readonly #waiting: Waiting<J>[] = []
  #size = 0

  /** @throws Problem at once where as many as the limit are waiting, the running one not counted */
  run<T>(limit: number, work: () => Promise<T>): Promise<T> {
    return this.#enter(limit, { joint: null, group: null }, work)
  }

  /** The same of a write that may be done with those behind it. @throws Problem likewise */
  join(limit: number, joint: Joint<J>): Promise<J> {
    const own: Waiting<J> = { joint, group: null }
    return this.#enter(limit, own, () => this.#inGroup(own, joint))
  }

  #enter<T>(limit: number, own: Waiting<J>, work: () => Promise<T>): Promise<T> {
    if (this.#size > limit) return Promise.reject(tooMany(limit))
    this.#size += 1
    this.#waiting.push(own)
    const mine = this.#last.then(() => {
      this.#waiting.shift()
      return work()
    })
    // The queue must go on after a failure, and the failure belongs to whoever waits for `mine`.
    const left = (): void => {
      this.#size -= 1
    }
    this.#last = mine.then(left, left)
    return mine
  }

  async #inGroup(own: Waiting<J>, joint: Joint<J>): Promise<J> {
    const group = own.group ?? this.#gather(joint)
    if (group === null) return joint.alone()
    const came = (await group).get(joint)
    return came === undefined ? joint.alone() : came[0]
  }

  /** Begins those that are at the head of the line and of this one's kind; null where there is none. */
  #gather(joint: Joint<J>): Promise<Results<J>> | null {
    const [next] = this.#waiting
    if (next?.joint?.kind !== joint.kind || joint.isLeft) return null
    const all = [joint]
    const subjects = new Set([joint.subject])
    for (const { joint: other } of this.#waiting) {
      if (all.length === MOST || other?.kind !== joint.kind || other.isLeft) break
      if (other.subject !== null && subjects.has(other.subject)) break
      subjects.add(other.subject)
      all.push(other)
    }
    const count = TOGETHER.find((number) => number <= all.length)
    if (count === undefined) return null
    const group = joint.together(all.slice(0, count))
    for (const member of this.#waiting.slice(0, count - 1)) member.group = group
    return group
  }
}
