import type { Outcome } from '../types/outcome.js'
import type { Caller, Plan } from '../types/plan.js'
import type { Resource } from '../types/resource.js'
import type { RecordsBefore } from '../types/rooms.js'
import type { Done, Ordering, Part, Work } from '../types/work.js'
import { Place } from './common/place.js'
import { NotedRecords } from './common/recordsBefore.js'
import { commitOf } from './perform/index.js'

/** Runs a write and sends its push events after the commit: parents before children. Events of one record are sent in commit order. */
export async function announced<T>(
  { resource, plan }: Work,
  caller: Caller,
  write: (order: Ordering) => Promise<T>,
  doneBy: (came: T) => Done | null,
): Promise<T> {
  const { inTurn } = resource.behaviours
  const commit = commitOf(resource)
  const order = new Order(resource, plan, commit.gaveUp)
  // Other writers may send events about this write before the host's COMMIT returns.
  if (commit.isHosts) order.alone()
  const written = async (): Promise<T> => {
    let isTold = false
    try {
      // Events are sent after the commit, so a transaction of the host delays them.
      const came = await write(commit.isHosts ? order.hosted : order)
      const done = doneBy(came)
      if (done !== null) {
        isTold = true
        commit.follow(
          () => order.tell({ done, caller }),
          () => order.end(),
        )
      }
      return came
    } finally {
      if (!isTold) order.end()
    }
  }
  return inTurn === null || commit.isHosts ? written() : inTurn(plan, written)
}

/** Position of a write in the commit order of its records. */
class Order implements Ordering {
  readonly #resource: Resource
  readonly #plan: Plan
  readonly before = new NotedRecords()
  #place: Place

  constructor(resource: Resource, plan: Plan, gaveUp: () => boolean) {
    this.#resource = resource
    this.#plan = plan
    this.#place = new Place(gaveUp)
  }

  begin(): void {
    // The earlier attempt was rolled back, so its events are dropped.
    this.before.clear()
    this.#place.end()
    this.#place = new Place()
  }

  wrote({ resource, plan }: Work, outcome: Outcome): void {
    resource.behaviours.stand?.(resource, plan, outcome, this.#place)
  }

  committing(outcome: Outcome | null): void {
    const { stand } = this.#resource.behaviours
    // The outcome may belong to a part with a plan of its own.
    stand?.(this.#resource, this.#plan, null, this.#place)
    if (outcome !== null) stand?.(this.#resource, this.#plan, outcome, this.#place)
  }

  alone(): void {
    this.#resource.behaviours.expect?.(this.#place)
  }

  /** Order for a write within a transaction of the host. The write does not know when the transaction ends. */
  get hosted(): Ordering {
    const { before } = this
    return { begin: ignore, wrote: ignore, committing: ignore, alone: ignore, before }
  }

  /** Sends the events as soon as all earlier events of the same records are sent. */
  tell(all: Part): void {
    this.#stand(all.done)
    const { turn } = this.#place
    const now = (): void => {
      try {
        announceAll(all, this.#place, this.before)
      } finally {
        this.end()
      }
    }
    if (turn === null) now()
    else void turn.then(now)
  }

  end(): void {
    this.#place.end()
  }

  #stand({ work, outcome, parts }: Done): void {
    this.wrote(work, outcome)
    for (const { done } of parts) this.#stand(done)
  }
}

function ignore(): void {}

function announceAll({ done, caller }: Part, place: Place, before: RecordsBefore): void {
  const { resource, plan } = done.work
  resource.behaviours.announce?.(resource, plan, done.outcome, { caller, place, before })
  for (const part of done.parts) announceAll(part, place, before)
}
