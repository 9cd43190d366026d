import test from 'ava'
import { NO_REQUEST } from '../../lib/common/noRequest.js'
import { Remembered } from '../../lib/common/remembered.js'
import type { Caller } from '../../types/plan.js'

const someone = (): Caller => ({ request: NO_REQUEST, identity: null, instant: new Date() })

test('what is remembered of a caller is known of nobody else, and by nobody else', (t) => {
  const [ours, theirs] = [new Remembered<string>(), new Remembered<string>()]
  const [one, other] = [someone(), someone()]
  t.is(ours.of(one), undefined)
  ours.set(one, 'first')
  ours.set(one, 'second')
  t.is(ours.of(one), 'second')
  t.is(ours.of(other), undefined)
  t.is(theirs.of(one), undefined)
})

test('of a copy of a caller nothing is known yet, since it is who does something else', (t) => {
  const known = new Remembered<string>()
  const one = someone()
  known.set(one, 'may create')
  const copy = { ...one }
  t.is(known.of(copy), undefined)
  t.is(known.of(Object.assign({}, one)), undefined)
  known.set(copy, 'may not')
  t.is(known.of(copy), 'may not')
  t.is(known.of(one), 'may create')
})
