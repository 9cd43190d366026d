import type { Outcome } from '../types/outcome.js'
import type { Caller, Plan } from '../types/plan.js'
import type { Resource, WriteContext } from '../types/resource.js'
import type { RecordBefore, RecordsBefore } from '../types/rooms.js'
import type { CommitOrder, Work, WriteResult, WrittenPart } from '../types/work.js'
import { CommitQueuePosition } from './common/commitQueue.js'
import { getOrCreate } from './common/getOrCreate.js'
import { commitOf } from './perform/index.js'

/**
 * Runs a write and sends its push events after the commit: events of parents before events of children. Events of one
 * record are sent in commit order.
 */
export async function announceWrite<T>(
  { resource, plan }: Work,
  caller: Caller,
  write: (order: CommitOrder) => Promise<T>,
  doneBy: (came: T) => WriteResult | null,
): Promise<T> {
  const { serializeWrite } = resource.behaviours
  const commit = commitOf(resource)
  const order = new WriteCommitOrder(resource, plan, commit.isRolledBack)
  // Other writers may send events about this write before the host's COMMIT returns.
  if (commit.isOfHost) order.expectCommit()
  const run = async (): Promise<T> => {
    let isAnnounced = false
    try {
      // Events are sent after the commit, so a transaction of the host delays them.
      const came = await write(commit.isOfHost ? order.withinHostTransaction : order)
      const done = doneBy(came)
      if (done !== null) {
        isAnnounced = true
        commit.afterCommit(
          () => order.announce({ result: done, caller }),
          () => order.end(),
        )
      }
      return came
    } finally {
      if (!isAnnounced) order.end()
    }
  }
  return serializeWrite === null || commit.isOfHost ? run() : serializeWrite(plan, run)
}

/** The position of a write in the commit order of its records. */
class WriteCommitOrder implements CommitOrder {
  readonly #resource: Resource
  readonly #plan: Plan
  readonly before = new RecordsBeforeWrite()
  #position: CommitQueuePosition

  constructor(resource: Resource, plan: Plan, gaveUp: () => boolean) {
    this.#resource = resource
    this.#plan = plan
    this.#position = new CommitQueuePosition(gaveUp)
  }

  beginAttempt(): void {
    // The earlier attempt was rolled back, so its events are dropped.
    this.before.clear()
    this.#position.end()
    this.#position = new CommitQueuePosition()
  }

  noteWrite({ resource, plan }: Work, outcome: Outcome): void {
    resource.behaviours.noteCommitOrder?.(resource, plan, outcome, this.#position)
  }

  prepareCommit(outcome: Outcome | null): void {
    const { noteCommitOrder } = this.#resource.behaviours
    // Both calls are needed, because the outcome may belong to a part with a plan of its own.
    noteCommitOrder?.(this.#resource, this.#plan, null, this.#position)
    if (outcome !== null) noteCommitOrder?.(this.#resource, this.#plan, outcome, this.#position)
  }

  expectCommit(): void {
    this.#resource.behaviours.expectWrite?.(this.#position)
  }

  /**
   * The commit order of a write within a transaction of the host. It does nothing, because the write does not know when
   * the transaction ends.
   */
  get withinHostTransaction(): CommitOrder {
    const { before } = this
    return { beginAttempt: doNothing, noteWrite: doNothing, prepareCommit: doNothing, expectCommit: doNothing, before }
  }

  /** Sends the events as soon as all earlier events of the records are sent. */
  announce(all: WrittenPart): void {
    this.#noteDone(all.result)
    const { turn } = this.#position
    const now = (): void => {
      try {
        announceAll(all, { position: this.#position, before: this.before, parentsSent: null })
      } finally {
        this.end()
      }
    }
    if (turn === null) now()
    else void turn.then(now)
  }

  end(): void {
    this.#position.end()
  }

  #noteDone({ work, outcome, parts }: WriteResult): void {
    this.noteWrite(work, outcome)
    for (const { result } of parts) this.#noteDone(result)
  }
}

function doNothing(): void {}

/** Announces a write and its nested writes. Hubs may be of different speed, so the events of parents are awaited. */
function announceAll({ result, caller }: WrittenPart, within: Omit<WriteContext, 'caller'>): void {
  const { resource, plan } = result.work
  const sent = resource.behaviours.announceWrite?.(resource, plan, result.outcome, { ...within, caller })
  for (const part of result.parts) announceAll(part, { ...within, parentsSent: sent ?? within.parentsSent })
}

/** The state of records before a write, by resource and key. A write may concern several resources. */
class RecordsBeforeWrite implements RecordsBefore {
  readonly #records = new Map<object, Map<string, RecordBefore>>()

  /** Forgets the states that an attempt stored before its rollback. */
  clear(): void {
    this.#records.clear()
  }

  note(resource: object, key: string, before: RecordBefore): void {
    const known = getOrCreate(this.#records, resource, () => new Map())
    if (!known.has(key)) known.set(key, before)
  }

  get(resource: object, key: string): RecordBefore | null {
    return this.#records.get(resource)?.get(key) ?? null
  }
}
