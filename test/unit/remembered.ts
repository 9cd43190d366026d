import test from 'ava'
import { CallerCache } from '../../lib/common/callerCache.js'
import { NO_REQUEST } from '../../lib/common/noRequest.js'
import type { Caller } from '../../types/plan.js'

const someone = (): Caller => ({ request: NO_REQUEST, identity: null, instant: new Date() })

test('what is remembered of a caller is known of nobody else, and by nobody else', (t) => {
  const [ours, theirs] = [new CallerCache<string>(), new CallerCache<string>()]
  const [one, other] = [someone(), someone()]
  t.is(ours.get(one), undefined)
  ours.set(one, 'first')
  ours.set(one, 'second')
  t.is(ours.get(one), 'second')
  t.is(ours.get(other), undefined)
  t.is(theirs.get(one), undefined)
})

test('of a copy of a caller nothing is known yet, since it is who does something else', (t) => {
  const known = new CallerCache<string>()
  const one = someone()
  known.set(one, 'may create')
  const copy = { ...one }
  t.is(known.get(copy), undefined)
  t.is(known.get(Object.assign({}, one)), undefined)
  known.set(copy, 'may not')
  t.is(known.get(copy), 'may not')
  t.is(known.get(one), 'may create')
})
