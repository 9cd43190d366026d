/**
 * Whether a value is a promise, recognized by its `then`. `instanceof` is not enough, because hosts may replace the
 * global `Promise`.
 */
export function isPromise<T>(given: T | PromiseLike<T>): given is PromiseLike<T> {
  const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function'
  return isObject && 'then' in given && typeof given.then === 'function'
}
