/**
 * Whether an answer is still to come. By what it can do, and not by its class: hosts put other classes in the place of
 * `Promise`, which async functions go on giving, and an answer that is not waited for is none.
 */
export function isPending<T>(given: T | PromiseLike<T>): given is PromiseLike<T> {
  const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function'
  return isObject && 'then' in given && typeof given.then === 'function'
}
