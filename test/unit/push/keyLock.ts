import { setImmediate as turn } from 'node:timers/promises'
import test from 'ava'
import { KeyLock } from '../../../lib/push/keyLock.js'

/** Work that begins when it may and ends when it is told to. */
class Work {
  isBegun = false
  end: () => void = () => undefined
  fail: (error: Error) => void = () => undefined
  readonly #ended = new Promise<void>((resolve, reject) => {
    this.end = resolve
    this.fail = reject
  })

  readonly run = (): Promise<void> => {
    this.isBegun = true
    return this.#ended
  }
}

const begun = (works: readonly Work[]): readonly boolean[] => works.map(({ isBegun }) => isBegun)

test('each waits for all that came before it with a key of its own, and for no other', async (t) => {
  const turns = new KeyLock<number>()
  const [first, second, both, other] = [new Work(), new Work(), new Work(), new Work()]
  const works = [first, second, both, other]
  const all = [
    turns.runLocked([1], first.run),
    turns.runLocked([2], second.run),
    turns.runLocked([1, 2], both.run),
    turns.runLocked([3], other.run),
  ]
  await turn()
  t.deepEqual(begun(works), [true, true, false, true])
  first.end()
  await turn()
  t.false(both.isBegun)
  second.end()
  await turn()
  t.true(both.isBegun)
  both.end()
  other.end()
  await Promise.all(all)
})

test('who comes when the first is done still waits for the second', async (t) => {
  const turns = new KeyLock<number>()
  const [first, second, third] = [new Work(), new Work(), new Work()]
  const all = [turns.runLocked([1], first.run), turns.runLocked([1], second.run)]
  await turn()
  first.end()
  await all[0]
  all.push(turns.runLocked([1], third.run))
  await turn()
  t.deepEqual(begun([second, third]), [true, false])
  second.end()
  await turn()
  t.true(third.isBegun)
  third.end()
  await Promise.all(all)
})

test('a failure is of who failed, and the next has its turn', async (t) => {
  const turns = new KeyLock<number>()
  const [first, second] = [new Work(), new Work()]
  const failing = turns.runLocked([1], first.run)
  const next = turns.runLocked([1], second.run)
  first.fail(new Error('no'))
  await t.throwsAsync(failing, { message: 'no' })
  second.end()
  await t.notThrowsAsync(next)
  t.true(second.isBegun)
})

test('whoever asks for the end waits for all that is under way, with keys or without, failed or not', async (t) => {
  const turns = new KeyLock<number>()
  const [first, second, free, later] = [new Work(), new Work(), new Work(), new Work()]
  await turns.whenIdle()
  const all = [turns.runLocked([1], first.run), turns.runLocked([1], second.run), turns.runLocked([], free.run)]
  let isOver = false
  const ended = turns.whenIdle().then(() => {
    isOver = true
  })
  all.push(turns.runLocked([2], later.run))
  for (const step of [first.end, free.end, () => second.fail(new Error('second'))]) {
    await turn()
    t.false(isOver)
    step()
  }
  await ended
  later.end()
  await Promise.allSettled(all)
})
