/** A record as the oracle knows it. The key is null while no reply has shown it. */
export interface Known {
  readonly id: number | null
  readonly code: string
  readonly owner: number
}

export interface Account extends Known {
  readonly name: string
  readonly rank: number
  readonly budget: number
  /** Keys of the linked tags, in ascending order. */
  readonly tags: readonly number[]
}

export interface Meta {
  readonly color: string
  readonly size: number
}

export interface Item extends Known {
  readonly name: string
  readonly level: number
  readonly note: string | null
  readonly meta: Meta | null
  readonly accountId: number
  readonly rowVersion: number
}

export interface Task extends Known {
  readonly title: string
  readonly done: boolean
  readonly createdBy: string
  readonly updatedBy: string
  readonly rowVersion: number
  readonly deleted: boolean
}

export interface Tag extends Known {
  readonly label: string
}

/** All records of one owner, by code. */
export interface State {
  readonly accounts: ReadonlyMap<string, Account>
  readonly items: ReadonlyMap<string, Item>
  readonly tasks: ReadonlyMap<string, Task>
  readonly tags: ReadonlyMap<string, Tag>
}

export type Resource = keyof State

export const EMPTY: State = { accounts: new Map(), items: new Map(), tasks: new Map(), tags: new Map() }

/** A record whose key is known. */
export type Stored<T> = T & { readonly id: number }

export function isStored<T extends { readonly id: number | null }>(record: T): record is Stored<T> {
  return record.id !== null
}

/**
 * Sorts records by key. Records with unknown keys are the newest. Such records are sorted by code, because codes ascend
 * in the order of creation.
 */
export function sorted<T extends Known>(records: Iterable<T>): T[] {
  const place = ({ id }: T): number => id ?? Number.POSITIVE_INFINITY
  return [...records].sort((left, right) =>
    left.id === right.id ? compare(left.code, right.code) : compare(place(left), place(right)),
  )
}

/** Compares two values. Null comes first, as in ascending sorts of the API. */
export function compare(left: string | number | null, right: string | number | null): number {
  if (left === right) return 0
  if (left === null || right === null) return left === null ? -1 : 1
  return left < right ? -1 : 1
}

/**
 * Key of an account until its real key is known. Only an account that was created with its items needs this key. At
 * most one account has this key at a time.
 */
export const NEW = -1

export function accountOf({ accountId }: Item, { accounts }: State): Account | undefined {
  return [...accounts.values()].find(({ id }) => (id ?? NEW) === accountId)
}

export function itemsOf({ id }: Account, { items }: State): Item[] {
  return sorted([...items.values()].filter(({ accountId }) => accountId === (id ?? NEW)))
}

export function put<T extends Known>(records: ReadonlyMap<string, T>, ...more: readonly T[]): ReadonlyMap<string, T> {
  return new Map([...records, ...more.map((record) => [record.code, record] as const)])
}

export function drop<T extends Known>(
  records: ReadonlyMap<string, T>,
  ...codes: readonly string[]
): ReadonlyMap<string, T> {
  return new Map([...records].filter(([code]) => !codes.includes(code)))
}

/** Adds keys from a reply to a state. */
export function withKeys(state: State, resource: Resource, body: unknown): State {
  const keys = new Map<unknown, number>()
  for (const row of Array.isArray(body) ? body : [body]) {
    const { code, id }: { code?: unknown; id?: unknown } = Object(row)
    if (typeof id === 'number') keys.set(code, id)
  }
  const named = <T extends Known>(records: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map([...records].map(([code, record]) => [code, { ...record, id: record.id ?? keys.get(code) ?? null }]))
  const next: State = { ...state, [resource]: named<Known>(state[resource]) }
  if (resource !== 'accounts') return next
  const created = [...state.accounts.values()].find(({ id }) => id === null)
  const id = created === undefined ? null : (next.accounts.get(created.code)?.id ?? null)
  if (id === null) return next
  const items = [...next.items.values()].map((item) => (item.accountId === NEW ? { ...item, accountId: id } : item))
  return { ...next, items: put(new Map(), ...items) }
}

/** Checks the type of a value whose exact value is unknown. */
export type Check = (value: unknown) => boolean

export const isKey: Check = (value) => Number.isInteger(value)
export const isText: Check = (value) => typeof value === 'string' && value !== ''
export const isTextOrNull: Check = (value) => value === null || isText(value)
export const isNothing: Check = (value) => value === undefined

/** Whether a reply's body equals the expected body. */
export function isEqualBody(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'function') return expected(actual) === true
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return false
    return expected.every((each, index) => isEqualBody(each, actual[index]))
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return false
    const names = Object.keys(expected)
    if (names.length !== Object.keys(actual).length) return false
    return names.every((name) => name in actual && isEqualBody(Reflect.get(expected, name), Reflect.get(actual, name)))
  }
  return expected === actual
}

/** Expected response of a request. An undefined body is not checked. */
export interface Expected {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export function shownAccount({ id, tags: _, ...rest }: Account, money = true): object {
  return { id: id ?? isKey, ...rest, ...(money ? {} : { budget: null }) }
}

export function shownItem({ id, accountId, ...rest }: Item): object {
  return { id: id ?? isKey, ...rest, accountId: accountId === NEW ? isKey : accountId }
}

export function shownTask({ id, deleted: _, ...rest }: Task): object {
  return { id: id ?? isKey, ...rest }
}

export function shownTag({ id, ...rest }: Tag): object {
  return { id: id ?? isKey, ...rest }
}

export function tagOf({ rowVersion }: { readonly rowVersion: number }): string {
  return `W/"${rowVersion}"`
}
