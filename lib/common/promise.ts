/**
 * Whether a value is a promise, recognized by its `then`. Hosts may replace the global `Promise`, so its class proves
 * nothing. A promise that is not awaited would count as a value.
 */
export function isPromise<T>(given: T | PromiseLike<T>): given is PromiseLike<T> {
  const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function'
  return isObject && 'then' in given && typeof given.then === 'function'
}
