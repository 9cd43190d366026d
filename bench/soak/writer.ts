import type { Partition } from './partition.js'
import type { Random } from './read.js'
import { deleteAccount, first, link, nestedCreate, nestedReplace, patchAccount } from './writes/accounts.js'
import { create, createTaken, patch, patchGone, refused, remove, replace } from './writes/items.js'
import { bulkCreate, bulkCreateTaken, bulkDelete, bulkUpdate, bulkUpdateRefused, upsert } from './writes/many.js'
import { createTask, deleteTask, deleteTasks, patchTask, restoreTask } from './writes/tasks.js'
import { Making, type Write, type WriteMaker } from './writes.js'

/** Kinds of writes. A kind with a higher weight is more frequent. */
const WRITES: readonly (readonly [weight: number, make: WriteMaker])[] = [
  [14, create],
  [2, createTaken],
  [14, patch],
  [3, replace],
  [4, refused],
  [1, patchGone],
  [8, remove],
  [4, bulkCreate],
  [2, bulkCreateTaken],
  [4, bulkDelete],
  [5, bulkUpdate],
  [2, bulkUpdateRefused],
  [5, upsert],
  [5, patchAccount],
  [6, link],
  [3, nestedCreate],
  [4, nestedReplace],
  [3, deleteAccount],
  [5, createTask],
  [4, patchTask],
  [4, deleteTask],
  [1, deleteTasks],
  [5, restoreTask],
]

const ALL = WRITES.flatMap(([weight, make]) => Array.from({ length: weight }, () => make))

/** Creates writes for the records of one owner. */
export class Writer {
  readonly #making: Making

  constructor(partition: Partition, random: Random) {
    this.#making = new Making(partition, random)
  }

  /** Writes that must happen before all others. */
  first(): readonly (() => Write)[] {
    return first.map((make) => () => this.#by(make(this.#turned())))
  }

  next(): Write {
    for (;;) {
      const write = ALL[this.#making.random(ALL.length)]?.(this.#turned()) ?? null
      if (write !== null) return this.#by(write)
    }
  }

  #turned(): Making {
    this.#making.turn()
    return this.#making
  }

  #by(write: Write): Write {
    return { ...write, headers: { ...this.#making.headers, ...write.headers } }
  }
}
