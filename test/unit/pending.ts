import test from 'ava'
import { isPromise } from '../../lib/common/promise.js'

/** Made so that nobody takes it for a promise who should not. */
function withThen(target: object, then: unknown): object {
  return Object.defineProperty(target, 'then', { value: then })
}

test('an answer is pending by what it can do: by a then, of an object or of a function', (t) => {
  const wait = (): void => undefined
  const pending: unknown[] = [Promise.resolve(), withThen({}, wait), withThen(() => null, wait)]
  for (const each of pending) t.true(isPromise(each))
  const ready: unknown[] = [null, undefined, 0, 'then', true, {}, withThen({}, 1), () => null]
  for (const each of ready) t.false(isPromise(each))
})
