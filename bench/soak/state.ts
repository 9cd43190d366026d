/** What the oracle knows of a record. The key of one whose creation was not acknowledged is not known yet. */
interface Known {
  readonly id: number | null
  readonly code: string
  readonly owner: number
}

export interface Account extends Known {
  readonly name: string
  readonly rank: number
}

export interface Item extends Known {
  readonly name: string
  readonly level: number
  readonly note: string | null
  readonly accountId: number
  readonly rowVersion: number
}

export interface Task extends Known {
  readonly title: string
  readonly done: boolean
  readonly deleted: boolean
}

/** All records of one owner, by code. */
export interface State {
  readonly accounts: ReadonlyMap<string, Account>
  readonly items: ReadonlyMap<string, Item>
  readonly tasks: ReadonlyMap<string, Task>
}

export type Resource = keyof State

export const EMPTY: State = { accounts: new Map(), items: new Map(), tasks: new Map() }

/** The records in the order of their keys. Unknown keys are the newest, and codes are made in ascending order. */
export function sorted<T extends Known>(records: Iterable<T>): T[] {
  const place = ({ id }: T): number => id ?? Number.POSITIVE_INFINITY
  return [...records].sort((left, right) =>
    left.id === right.id ? compare(left.code, right.code) : compare(place(left), place(right)),
  )
}

/** Null first, as in every ascending sort of the API. */
export function compare(left: string | number | null, right: string | number | null): number {
  if (left === right) return 0
  if (left === null || right === null) return left === null ? -1 : 1
  return left < right ? -1 : 1
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

/** The same state, with the keys that a reply has told. */
export function withKeys(state: State, resource: Resource, body: unknown): State {
  const keys = new Map<unknown, number>()
  for (const row of Array.isArray(body) ? body : [body]) {
    const { code, id }: { code?: unknown; id?: unknown } = Object(row)
    if (typeof id === 'number') keys.set(code, id)
  }
  const named = <T extends Known>(records: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map([...records].map(([code, record]) => [code, { ...record, id: record.id ?? keys.get(code) ?? null }]))
  return { ...state, [resource]: named<Known>(state[resource]) }
}

/** A value that is checked by what it is and not by what it says. */
type Check = (value: unknown) => boolean

export const isKey: Check = (value) => Number.isInteger(value)
export const isText: Check = (value) => typeof value === 'string' && value !== ''

/** Whether a reply's body is the expected one, all of it and nothing besides. */
export function agrees(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'function') return expected(actual) === true
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return false
    return expected.every((each, index) => agrees(each, actual[index]))
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return false
    const names = Object.keys(expected)
    if (names.length !== Object.keys(actual).length) return false
    return names.every((name) => name in actual && agrees(Reflect.get(expected, name), Reflect.get(actual, name)))
  }
  return expected === actual
}

/** What a request must be answered with. A body of undefined is not looked at. */
export interface Expected {
  readonly status: number
  readonly body?: unknown
  readonly etag?: string
}

export function shownAccount({ id, ...rest }: Account): object {
  return { id: id ?? isKey, ...rest }
}

export function shownItem({ id, ...rest }: Item): object {
  return { id: id ?? isKey, ...rest }
}

export function shownTask({ id, deleted: _, ...rest }: Task): object {
  return { id: id ?? isKey, ...rest }
}

export function tagOf({ rowVersion }: Item): string {
  return `W/"${rowVersion}"`
}
