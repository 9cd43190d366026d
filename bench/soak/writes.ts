import type { Partition } from './partition.js'
import { pick, type Random } from './reads.js'
import {
  type Account,
  drop,
  type Expected,
  type Item,
  put,
  type Resource,
  type State,
  shownAccount,
  shownItem,
  shownTask,
  sorted,
  type Task,
  tagOf,
} from './state.js'

/** A request, what it must be answered with, and what is there afterwards. */
export interface Write {
  readonly kind: string
  readonly resource: Resource
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly expected: Expected
  /** The state before it where the request is to be refused. */
  readonly next: State
  /** Keys that are gone for good once it is acknowledged. */
  readonly removes?: readonly number[]
}

const NAMES = ['anna', 'berg', 'costa', 'dima', 'elif', 'femi', 'grace', 'haas', 'ivan', 'jansen'] as const
const FEWEST = 8
const MOST = 60
const MOST_TASKS = 30

/** A record that is there, with its key. */
type Stored<T> = T & { readonly id: number }

function isStored<T extends { readonly id: number | null }>(record: T): record is Stored<T> {
  return record.id !== null
}

/** Writes for the records of one owner. Codes ascend, so that they tell the order in which records were made. */
export class Writer {
  readonly #partition: Partition
  readonly #random: Random
  #made = 0

  constructor(partition: Partition, random: Random) {
    this.#partition = partition
    this.#random = random
  }

  /** The accounts, made once and never deleted. */
  accounts(): Write {
    const { owner, state } = this.#partition
    const accounts = Array.from({ length: 4 }, (_, rank): Account => {
      return { id: null, code: this.#code(), owner, name: this.#name(), rank: rank * 3 }
    })
    return {
      kind: 'bulk create',
      resource: 'accounts',
      method: 'POST',
      path: '/api/accounts/bulk',
      body: accounts.map(({ id: _, ...body }) => body),
      expected: { status: 201, body: accounts.map(shownAccount) },
      next: { ...state, accounts: put(state.accounts, ...accounts) },
    }
  }

  next(): Write {
    const { items, tasks } = this.#partition.state
    const roll = this.#random(100)
    if (roll < 22) return items.size < MOST ? this.#create() : this.#bulkDelete()
    if (roll < 44) return this.#patch()
    if (roll < 47) return this.#patchStale()
    if (roll < 49) return this.#patchGone()
    if (roll < 52) return this.#createTaken()
    if (roll < 62) return items.size > FEWEST ? this.#delete() : this.#create()
    if (roll < 67) return items.size < MOST ? this.#bulkCreate() : this.#bulkDelete()
    if (roll < 69) return this.#bulkCreateTaken()
    if (roll < 73) return items.size > FEWEST ? this.#bulkDelete() : this.#bulkCreate()
    if (roll < 82) return this.#patchAccount()
    if (roll < 87) return tasks.size < MOST_TASKS ? this.#createTask() : this.#patchTask()
    if (roll < 92) return this.#deleteTask()
    if (roll < 97) return this.#restoreTask()
    return this.#patchTask()
  }

  #code(): string {
    this.#made += 1
    return `o${this.#partition.owner}-${String(this.#made).padStart(7, '0')}`
  }

  #name(): string {
    return `${pick(this.#random, NAMES)}${this.#random(20)}`
  }

  #item(): Item {
    const { owner, state } = this.#partition
    const account = pick(this.#random, [...state.accounts.values()].filter(isStored))
    return {
      id: null,
      code: this.#code(),
      owner,
      name: this.#name(),
      level: 1 + this.#random(100),
      note: this.#random(3) === 0 ? null : `note ${this.#random(1000)}`,
      accountId: account.id,
      rowVersion: 0,
    }
  }

  /** Some record of those that are there, or null. */
  #any<T extends Item | Account | Task>(records: Iterable<T>): Stored<T> | null {
    const stored = [...records].filter(isStored)
    return stored.length === 0 ? null : pick(this.#random, stored)
  }

  #create(): Write {
    const { state } = this.#partition
    const item = this.#item()
    return {
      kind: 'create',
      resource: 'items',
      method: 'POST',
      path: '/api/items',
      body: bodyOf(item),
      expected: { status: 201, body: shownItem(item), etag: tagOf(item) },
      next: { ...state, items: put(state.items, item) },
    }
  }

  #createTaken(): Write {
    const { state } = this.#partition
    const taken = this.#any(state.items.values())
    if (taken === null) return this.#create()
    return {
      kind: 'create taken',
      resource: 'items',
      method: 'POST',
      path: '/api/items',
      body: { ...bodyOf(this.#item()), code: taken.code },
      expected: { status: 409 },
      next: state,
    }
  }

  #patch(): Write {
    const { state } = this.#partition
    const item = this.#any(state.items.values())
    if (item === null) return this.#create()
    const changes = pick(this.#random, [
      { level: 1 + this.#random(100) },
      { note: null },
      { name: this.#name(), note: `note ${this.#random(1000)}` },
      // To what it is already: the version rises nevertheless.
      { name: item.name },
    ])
    const changed: Item = { ...item, ...changes, rowVersion: item.rowVersion + 1 }
    return {
      kind: 'PATCH If-Match',
      resource: 'items',
      method: 'PATCH',
      path: `/api/items/${item.id}`,
      headers: { 'if-match': tagOf(item) },
      body: changes,
      expected: { status: 200, body: shownItem(changed), etag: tagOf(changed) },
      next: { ...state, items: put(state.items, changed) },
    }
  }

  #patchStale(): Write {
    const { state } = this.#partition
    const item = this.#any(state.items.values())
    if (item === null) return this.#create()
    return {
      kind: 'PATCH stale',
      resource: 'items',
      method: 'PATCH',
      path: `/api/items/${item.id}`,
      headers: { 'if-match': `W/"${item.rowVersion === 0 ? 9 : item.rowVersion - 1}"` },
      body: { level: 1 },
      expected: { status: 412 },
      next: state,
    }
  }

  #patchGone(): Write {
    const { state, gone } = this.#partition
    return {
      kind: 'PATCH gone',
      resource: 'items',
      method: 'PATCH',
      path: `/api/items/${gone.at(-1) ?? -1}`,
      headers: { 'if-match': '*' },
      body: { level: 1 },
      expected: { status: 404 },
      next: state,
    }
  }

  #delete(): Write {
    const { state } = this.#partition
    const item = this.#any(state.items.values())
    if (item === null) return this.#create()
    return {
      kind: 'DELETE',
      resource: 'items',
      method: 'DELETE',
      path: `/api/items/${item.id}`,
      ...(this.#random(2) === 0 ? {} : { headers: { 'if-match': tagOf(item) } }),
      expected: { status: 204 },
      next: { ...state, items: drop(state.items, item.code) },
      removes: [item.id],
    }
  }

  #bulkCreate(): Write {
    const { state } = this.#partition
    const items = Array.from({ length: 2 + this.#random(10) }, () => this.#item())
    return {
      kind: 'bulk create',
      resource: 'items',
      method: 'POST',
      path: '/api/items/bulk',
      body: items.map(bodyOf),
      expected: { status: 201, body: items.map(shownItem) },
      next: { ...state, items: put(state.items, ...items) },
    }
  }

  /** The last of them is taken, so that none may be there. */
  #bulkCreateTaken(): Write {
    const { state } = this.#partition
    const taken = this.#any(state.items.values())
    if (taken === null) return this.#create()
    const items = Array.from({ length: 2 + this.#random(5) }, () => this.#item())
    return {
      kind: 'bulk create taken',
      resource: 'items',
      method: 'POST',
      path: '/api/items/bulk',
      body: [...items.map(bodyOf), { ...bodyOf(this.#item()), code: taken.code }],
      expected: { status: 409 },
      next: state,
    }
  }

  #bulkDelete(): Write {
    const { state, gone } = this.#partition
    const items = sorted(state.items.values()).filter(isStored)
    const chosen = items.filter(() => this.#random(4) === 0).slice(0, 10)
    const missing = gone.slice(-2)
    return {
      kind: 'bulk delete',
      resource: 'items',
      method: 'POST',
      path: '/api/items/bulk-delete',
      body: keysOf([...chosen.map(({ id }) => id), ...missing]),
      expected: { status: 200, body: { deleted: chosen.length } },
      next: { ...state, items: drop(state.items, ...chosen.map(({ code }) => code)) },
      removes: chosen.map(({ id }) => id),
    }
  }

  #patchAccount(): Write {
    const { state } = this.#partition
    const account = this.#any(state.accounts.values())
    if (account === null) return this.#create()
    // Now and then to what it is already.
    const changes = { rank: this.#random(10), ...(this.#random(2) === 0 ? { name: this.#name() } : {}) }
    const changed: Account = { ...account, ...changes }
    return {
      kind: 'PATCH',
      resource: 'accounts',
      method: 'PATCH',
      path: `/api/accounts/${account.id}`,
      body: changes,
      expected: { status: 200, body: shownAccount(changed) },
      next: { ...state, accounts: put(state.accounts, changed) },
    }
  }

  #createTask(): Write {
    const { owner, state } = this.#partition
    const tasks = Array.from({ length: 1 + this.#random(3) }, (): Task => {
      return { id: null, code: this.#code(), owner, title: this.#name(), done: this.#random(2) === 0, deleted: false }
    })
    const isBulk = tasks.length > 1
    const bodies = tasks.map(({ id: _, deleted: __, ...body }) => body)
    const shown = tasks.map(shownTask)
    return {
      kind: isBulk ? 'hooked bulk create' : 'hooked create',
      resource: 'tasks',
      method: 'POST',
      path: isBulk ? '/api/tasks/bulk' : '/api/tasks',
      body: isBulk ? bodies : bodies[0],
      expected: { status: 201, body: isBulk ? shown : shown[0] },
      next: { ...state, tasks: put(state.tasks, ...tasks) },
    }
  }

  #tasks(deleted: boolean): Stored<Task>[] {
    return sorted(this.#partition.state.tasks.values())
      .filter(isStored)
      .filter((task) => task.deleted === deleted)
  }

  #patchTask(): Write {
    const { state } = this.#partition
    const task = this.#any(this.#tasks(false))
    if (task === null) return this.#restoreTask()
    const changed: Task = { ...task, title: this.#name(), done: !task.done }
    return {
      kind: 'hooked PATCH',
      resource: 'tasks',
      method: 'PATCH',
      path: `/api/tasks/${task.id}`,
      body: { title: changed.title, done: changed.done },
      expected: { status: 200, body: shownTask(changed) },
      next: { ...state, tasks: put(state.tasks, changed) },
    }
  }

  #deleteTask(): Write {
    const { state } = this.#partition
    const there = this.#tasks(false)
    const task = this.#any(there)
    if (task === null) return this.#createTask()
    if (this.#random(4) > 0) {
      return {
        kind: 'soft delete',
        resource: 'tasks',
        method: 'DELETE',
        path: `/api/tasks/${task.id}`,
        expected: { status: 204 },
        next: { ...state, tasks: put(state.tasks, { ...task, deleted: true }) },
      }
    }
    const chosen = there.filter(() => this.#random(3) === 0)
    const skipped = this.#tasks(true).slice(0, 2)
    return {
      kind: 'bulk soft delete',
      resource: 'tasks',
      method: 'POST',
      path: '/api/tasks/bulk-delete',
      body: keysOf([...chosen, ...skipped].map(({ id }) => id)),
      expected: { status: 200, body: { deleted: chosen.length } },
      next: { ...state, tasks: put(state.tasks, ...chosen.map((each) => ({ ...each, deleted: true }))) },
    }
  }

  #restoreTask(): Write {
    const { state } = this.#partition
    const isRefused = this.#random(5) === 0
    const task = this.#any(this.#tasks(!isRefused))
    if (task === null) return this.#createTask()
    const restored: Task = { ...task, deleted: false }
    return {
      kind: isRefused ? 'restore undeleted' : 'restore',
      resource: 'tasks',
      method: 'POST',
      path: `/api/tasks/${task.id}/restore`,
      expected: isRefused ? { status: 404 } : { status: 200, body: shownTask(restored) },
      next: isRefused ? state : { ...state, tasks: put(state.tasks, restored) },
    }
  }
}

function bodyOf({ id: _, rowVersion: __, ...body }: Item): object {
  return body
}

/** Keys to delete in bulk, never none: that is answered without the database. */
function keysOf(keys: readonly number[]): readonly number[] {
  return keys.length === 0 ? [-1] : keys
}
