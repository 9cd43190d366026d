import test from 'ava'
import { readClaim, SubscriptionRegistry } from '../../../lib/push/registry.js'

const A = '["response",[],["tenant"],[],[]]'
const B = '["list",["payroll"],[],[],[]]'

function open(): SubscriptionRegistry {
  return new SubscriptionRegistry((name) => name === 'tenant')
}

const claim = (server: string, version: number, ...texts: readonly string[]) => ({ server, version, texts })

const textsIn = (registry: SubscriptionRegistry): readonly string[] =>
  [...registry.subscriptions()].map(([text]) => text)

test('a class is known as long as one server claims it', (t) => {
  const registry = open()
  t.is(registry.add(claim('x', 1, A, B), 0).length, 2)
  t.is(registry.add(claim('y', 1, A), 0).length, 0)
  registry.remove(claim('x', 2, A, B), 0)
  t.deepEqual(textsIn(registry), [A])
  registry.remove(claim('x', 3, A), 0)
  t.deepEqual(textsIn(registry), [A])
  registry.remove(claim('y', 2, A), 0)
  t.deepEqual(textsIn(registry), [])
})

test('what a server took back before it said it again does not count, in whatever order it comes', (t) => {
  const registry = open()
  registry.add(claim('x', 3, A), 0)
  registry.remove(claim('x', 2, A), 0)
  t.deepEqual(textsIn(registry), [A])
  registry.replace(claim('x', 2), 0)
  t.deepEqual(textsIn(registry), [A])
  // An older word than the latest makes it no older.
  registry.add(claim('x', 1, A), 0)
  registry.remove(claim('x', 2, A), 0)
  t.deepEqual(textsIn(registry), [A])
  registry.replace(claim('x', 3, B), 0)
  t.deepEqual(textsIn(registry), [B])
})

test('what a server has replaces what it had, and nothing of what others have', (t) => {
  const registry = open()
  registry.add(claim('x', 1, A), 0)
  registry.add(claim('y', 1, A), 0)
  t.is(registry.replace(claim('x', 2, B), 0).length, 1)
  t.deepEqual(textsIn(registry), [A, B])
  registry.replace(claim('y', 2), 0)
  t.deepEqual(textsIn(registry), [B])
})

test('what a server claimed that has said nothing since is forgotten, and known again with its next word', (t) => {
  const registry = open()
  registry.add(claim('own', 1, A), Number.POSITIVE_INFINITY)
  registry.add(claim('x', 9, A, B), 1000)
  registry.expire(1000)
  t.deepEqual(textsIn(registry), [A, B])
  registry.expire(1001)
  t.deepEqual(textsIn(registry), [A])
  registry.expire(Number.MAX_VALUE)
  t.deepEqual(textsIn(registry), [A])
  registry.replace(claim('x', 9, B), 2000)
  t.deepEqual(textsIn(registry), [A, B])
  // Any word is one: it lives.
  registry.remove(claim('x', 10, 'nothing'), 3000)
  registry.expire(3000)
  t.deepEqual(textsIn(registry), [A, B])
})

test('a class that fixes an attribute which is none has no records, and what cannot be read is none', (t) => {
  const registry = open()
  t.deepEqual(registry.add(claim('x', 1, '["response",[],["budget"],[],[]]', 'nonsense', '[]'), 0), [])
  t.deepEqual(textsIn(registry), [])
})

test('a claim is read from what other servers send, and nothing else is', (t) => {
  t.deepEqual(readClaim({ server: 'x', version: 1, texts: [A, 1, null], more: 1 }), claim('x', 1, A))
  for (const wrong of [null, undefined, 1, 'x', [], {}, claim('x', Number.NaN, A), claim('x', 1.5), { texts: [A] }]) {
    t.is(readClaim(wrong), null)
  }
})
