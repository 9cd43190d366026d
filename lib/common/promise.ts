/**
 * Whether a value is a promise, recognized by its `then`. `instanceof` is not enough, because hosts may replace the
 * global `Promise`.
 */
export function isPromise<T>(given: T | PromiseLike<T>): given is PromiseLike<T> {
  const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function'
  return isObject && 'then' in given && typeof given.then === 'function'
}

/** Whether host code returned true. Promises in another result are not awaited, and their rejections are ignored. */
export function isTrue(given: unknown): boolean {
  if (given === true) return true
  ignoreRejections(given)
  return false
}

/**
 * Ignores rejections of the promises in a result of host code that is refused. A rejection that nobody handles would end
 * the process. Returns whether there are promises.
 */
export function ignoreRejections(given: unknown): boolean {
  const promises = promisesIn(given, 0)
  for (const each of promises) Promise.resolve(each).catch(() => undefined)
  return promises.length > 0
}

/** The depth of values in `{ fixed: { id: [1, 2] } }`. A value may have cycles. */
const MAX_DEPTH = 3

function promisesIn(given: unknown, depth: number): readonly unknown[] {
  if (isPromise(given)) return [given]
  if (typeof given !== 'object' || given === null || depth === MAX_DEPTH) return []
  return Object.values(given).flatMap((value) => promisesIn(value, depth + 1))
}
