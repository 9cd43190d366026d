import test from 'ava'
import fc from 'fast-check'
import { BoundedCache, estimateStringBytes } from '../../lib/common/cache.js'

const byValue = { estimateSize: (_key: string, value: number) => value }

test('the least recently used entry goes first, and reading is use', (t) => {
  const cache = new BoundedCache({ entries: 2, bytes: 100, ...byValue })
  cache.set('a', 1)
  cache.set('b', 2)
  t.is(cache.get('a'), 1)
  cache.set('c', 3)
  t.is(cache.get('b'), undefined)
  t.is(cache.get('a'), 1)
  t.is(cache.get('c'), 3)
  t.is(cache.size, 2)
})

test('as many entries go as a heavy one needs room', (t) => {
  const cache = new BoundedCache({ entries: 100, bytes: 10, ...byValue })
  for (const [key, weight] of [
    ['a', 3],
    ['b', 3],
    ['c', 4],
  ] as const) {
    cache.set(key, weight)
  }
  t.is(cache.bytes, 10)
  cache.set('d', 5)
  t.is(cache.get('a'), undefined)
  t.is(cache.get('b'), undefined)
  t.is(cache.get('c'), 4)
  t.is(cache.get('d'), 5)
  t.is(cache.bytes, 9)
})

test('what is heavier than the whole cache is not kept, and pushes nothing out', (t) => {
  const removed: number[] = []
  const cache = new BoundedCache({ entries: 100, bytes: 10, ...byValue, onRemove: (value) => removed.push(value) })
  cache.set('a', 10)
  cache.set('b', 11)
  t.is(cache.get('a'), 10)
  t.is(cache.get('b'), undefined)
  t.deepEqual(removed, [11])
})

test('every value that leaves is told of once, however it leaves', (t) => {
  const removed: number[] = []
  const cache = new BoundedCache({ entries: 2, bytes: 100, ...byValue, onRemove: (value) => removed.push(value) })
  cache.set('a', 1)
  cache.set('a', 2)
  cache.set('b', 3)
  cache.set('c', 4)
  cache.delete('b')
  cache.delete('b')
  cache.clear()
  t.deepEqual(removed, [1, 2, 3, 4])
  t.is(cache.size, 0)
  t.is(cache.bytes, 0)
})

test('a text weighs two bytes a character', (t) => {
  t.is(estimateStringBytes('añ漢'), 6)
})

test('whatever is done with it, a cache holds what a list would that is put in the order of last use while half full', (t) => {
  const bounds = { entries: 4, bytes: 20 }
  const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  const steps = fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('get' as const), key: keys, value: fc.constant(0) }),
      fc.record({ do: fc.constant('set' as const), key: keys, value: fc.integer({ min: 1, max: 25 }) }),
      fc.record({ do: fc.constant('delete' as const), key: keys, value: fc.constant(0) }),
    ),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(steps, (given) => {
      const cache = new BoundedCache({ ...bounds, ...byValue })
      let list: (readonly [key: string, value: number])[] = []
      const weight = (): number => list.reduce((sum, [, value]) => sum + value, 0)
      for (const step of given) {
        const known = list.find(([key]) => key === step.key)
        if (step.do === 'get') t.is(cache.get(step.key), known?.[1])
        else if (step.do === 'set') cache.set(step.key, step.value)
        else cache.delete(step.key)
        const isCrowded = list.length * 2 > bounds.entries || weight() * 2 > bounds.bytes
        if (step.do === 'get' && (known === undefined || !isCrowded)) continue
        list = list.filter(([key]) => key !== step.key)
        if (step.do === 'get' && known !== undefined) list.push(known)
        if (step.do === 'set' && step.value <= bounds.bytes) list.push([step.key, step.value])
        while (list.length > bounds.entries || weight() > bounds.bytes) list.shift()
        t.is(cache.size, list.length)
        t.is(cache.bytes, weight())
      }
      for (const [key, value] of [...list]) t.is(cache.get(key), value)
    }),
  )
})
