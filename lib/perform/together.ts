import type { Transaction } from 'sequelize'
import type { Row } from '../../types/outcome.js'
import { failureOf, isOfSequelize } from '../sequelize/failure.js'
import { isLogged, runsPlainQueries } from '../sequelize/run.js'
import { LoneStatement } from '../sequelize/writeRun.js'
import { causeNow } from '../watch/channels.js'
import type { Joint, Results } from './queue.js'
import type { Store } from './store.js'
import { WriteTime } from './time.js'
import { alone, attempt, isJoined, lone, queueOf } from './transaction.js'

type Came = Row | undefined

/** A write of one statement that makes or changes one record, and gives its row; undefined where there is no such record. */
export interface RowWrite {
  /** What it has in common with those that one statement can do with it: one object for all of them. */
  readonly kind: object
  /** The record that it is about; null for a new one. */
  readonly subject: string | null
  alone(transaction: Transaction): Promise<Came>
  /** Does several of the kind by one statement, all of them or none; null where they cannot be done so. */
  together(all: readonly RowWrite[], transaction: Transaction): Promise<readonly Came[] | null>
}

/** Does such a write; where writes wait for each other, with those of its kind that wait behind it. */
export function aloneOrTogether(store: Store, write: RowWrite): Promise<Came> {
  const byOne = (transaction: Transaction): Promise<Came> => write.alone(transaction)
  if (!store.dialect.queuesWrites || isJoined(store) || isHeard(store)) return alone(store, byOne)
  const { writeQueue } = store.resource.limits
  return attempt(
    store,
    (time) => lone(store, time, byOne),
    (byItself) => queueOf(store.sequelize).join(writeQueue, new JointWrite(store, write, byItself)),
  )
}

/** Whether somebody is told of single statements, each of which is a request's. */
function isHeard({ sequelize }: Store): boolean {
  return causeNow() !== undefined || !runsPlainQueries(sequelize) || isLogged(sequelize)
}

/** A write in the line. */
class JointWrite implements Joint<Came> {
  readonly store: Store
  readonly write: RowWrite
  readonly alone: () => Promise<Came>

  constructor(store: Store, write: RowWrite, alone: () => Promise<Came>) {
    this.store = store
    this.write = write
    this.alone = alone
  }

  get kind(): object {
    return this.write.kind
  }

  get subject(): string | null {
    return this.write.subject
  }

  get isLeft(): boolean {
    return this.store.leaving?.isLeft === true
  }

  async together(all: readonly Joint<Came>[]): Promise<Results<Came>> {
    const { store, write } = this
    const statement = new LoneStatement(store)
    await statement.take()
    // None of theirs: what one of them takes too long for is done by each, in its own time.
    const time = new WriteTime(store.resource.limits.writeTime)
    const watch = time.watch((pending) => statement.giveUp(pending))
    try {
      const joints = all.filter((each) => each instanceof JointWrite).filter(({ isLeft }) => !isLeft)
      if (joints.length < 2) return NONE
      for (const joint of joints) joint.store.order?.alone()
      const writes = joints.map((joint) => joint.write)
      const rows = await watch.settle(write.together(writes, statement))
      return rows === null ? NONE : new Map(joints.map((joint, index) => [joint, [rows[index]]]))
    } catch (error) {
      // What the database has against one of them is no matter of the others, and whose it is does not show.
      const isRefused = watch.isOver || isOfSequelize(error) || failureOf(error, store.dialect) !== null
      if (isRefused) return NONE
      throw error
    } finally {
      watch.clear()
      statement.release()
    }
  }
}

const NONE: Results<Came> = new Map()
