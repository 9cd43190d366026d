import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import test from 'ava'
import { BackgroundQueue } from '../../../lib/push/backgroundQueue.js'

/** An item, as an object that nothing else is. */
const item = (name: number): { readonly name: number } => ({ name })

test('nothing is done before what the process has to do already, and one thing a turn', async (t) => {
  const done: number[] = []
  const queue = new BackgroundQueue<{ readonly name: number }>(
    async ({ name }) => {
      done.push(name)
    },
    () => t.fail(),
  )
  queue.add([1, 2, 3].map(item))
  await null
  t.deepEqual(done, [])
  const seen: number[] = []
  while (done.length < 3) {
    await turn()
    seen.push(done.length)
  }
  t.deepEqual(done, [1, 2, 3])
  t.true(seen.length >= 3, String(seen))
})

test('a queue that has grown long lets nobody go first, until it is short again', async (t) => {
  let done = 0
  const queue = new BackgroundQueue<{ readonly name: number }>(
    async () => {
      done += 1
    },
    () => t.fail(),
  )
  queue.add(Array.from({ length: 3000 }, (_, name) => item(name)))
  let turns = 0
  while (done < 2000) {
    await turn()
    turns += 1
  }
  t.true(turns < 100, String(turns))
  while (done < 3000) {
    await turn()
    turns += 1
  }
  t.true(turns > 900, String(turns))
})

test('what fails is told of with what it was, and what comes later is done, by a queue that had ended too', async (t) => {
  const done: number[] = []
  const failed: [unknown, number][] = []
  const queue = new BackgroundQueue<{ readonly name: number }>(
    async ({ name }) => {
      if (name % 2 === 0) throw new Error(`no ${name}`)
      done.push(name)
    },
    (error, { name }) => failed.push([(error as Error).message, name]),
  )
  queue.add([])
  queue.add([1, 2, 3].map(item))
  while (done.length < 2) await turn()
  await turn()
  queue.add([4, 5].map(item))
  while (done.length < 3) await turn()
  t.deepEqual(done, [1, 3, 5])
  t.deepEqual(failed, [
    ['no 2', 2],
    ['no 4', 4],
  ])
})

test('nothing is done in the context of those who asked', async (t) => {
  const context = new AsyncLocalStorage<string>()
  const found: unknown[] = []
  const queue = new BackgroundQueue<{ readonly name: number }>(
    async () => {
      found.push(context.getStore())
    },
    () => t.fail(),
  )
  context.run('a transaction', () => queue.add([item(1)]))
  while (found.length < 1) await turn()
  t.deepEqual(found, [undefined])
})
