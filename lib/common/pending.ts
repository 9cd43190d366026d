/**
 * Whether an answer is still to come. By what it can do, and not by its class: hosts put other classes in the place of
 * `Promise`, which async functions go on giving, and an answer that is not waited for is none.
 */
export function isPending<T>(given: T | PromiseLike<T>): given is PromiseLike<T> {
  return typeof given === 'object' && given !== null && 'then' in given && typeof given.then === 'function'
}
