// Requests made at random, valid, nearly valid and broken, from callers of every shape of scope, against an application
// with every behaviour on: whatever is sent, nothing is answered with a 500, nobody is told what is another's, and
// nobody writes what is not theirs.
//
// FUZZ_SEED=n repeats a run, FUZZ_REQUESTS=n makes it longer, FUZZ_FIRST=n begins at a later request.

import { randomInt } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import ava, { type ExecutionContext } from 'ava'
import { CALLERS, type Caller, callerNamed } from '../../fuzz/callers.js'
import { canariesIn, textCanary } from '../../fuzz/canaries.js'
import { changeFaults } from '../../fuzz/changes.js'
import { compare } from '../../fuzz/compare.js'
import { Exchange } from '../../fuzz/exchange.js'
import { leaksIn } from '../../fuzz/leaks.js'
import { deletedOf, restoredBy } from '../../fuzz/place.js'
import { faultsOf } from '../../fuzz/replies.js'
import { report } from '../../fuzz/report.js'
import { type FuzzRequest, sealed } from '../../fuzz/request.js'
import { makeSeeds } from '../../fuzz/rows.js'
import { run } from '../../fuzz/run.js'
import { shrunk } from '../../fuzz/shrink.js'
import { TABLES, tableNamed } from '../../fuzz/tables.js'
import { type Finding, printed } from '../../fuzz/tell.js'
import { Truth } from '../../fuzz/truth.js'
import { openWorld } from '../../fuzz/world.js'

const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))
const requests = Number(process.env.FUZZ_REQUESTS ?? 350)
const first = Number(process.env.FUZZ_FIRST ?? 0)
const most = 10

const test = ava.serial
const seeds = makeSeeds(200)
const world = await openWorld(seeds)
test.after.always(() => world.close())

function none(t: ExecutionContext, findings: readonly Finding[]): void {
  if (findings.length === 0) t.pass()
  else t.fail(findings.map((finding) => printed(seed, finding)).join('\n'))
}

test('what a caller may not see makes no difference to what they are answered', async (t) => {
  const asked = Math.ceil(requests / 3)
  t.timeout(120_000 + asked * 100)
  const known = CALLERS.filter(({ standing }) => standing !== 'refused').map(({ name }) => name)
  // Each of them takes a database of its own.
  const names = requests > 10_000 ? known : known.filter((_, index) => index % 4 === seed % 4)
  const { findings, requests: done, found } = await compare(world, seeds, names, { seed, first, requests: asked, most })
  t.log(`${done} requests, ${found} of them answered with 200, FUZZ_SEED=${seed}`)
  none(t, findings)
})

test('no random request is answered with a 500, with what is another’s, or by a change that is not the caller’s to make', async (t) => {
  t.timeout(120_000 + requests * 100)
  const { findings, measures } = await run(world, seeds, { seed, first, requests, most, slowest: 60_000 })
  t.log(`FUZZ_SEED=${seed}`)
  t.log(report(measures))
  none(t, findings)
})

// What is held against replies and rows has to object to something, or nobody would notice that it has fallen asleep.

function named(name: string): Caller {
  const caller = callerNamed(name)
  if (caller === null) throw new RangeError(`there is no ${name}`)
  return caller
}

function request(name: string, method: string, target: string, json: unknown = null): FuzzRequest {
  const caller = named(name)
  const body = json === null ? null : Buffer.from(JSON.stringify(json))
  const headers = [...Object.entries(caller.headers), ['content-type', 'application/json'] as const]
  return sealed(0, caller, { kind: 'test', method, target, headers, body })
}

test('an answer to one caller, judged as if it were one to another, is a leak', async (t) => {
  const exchange = new Exchange(world.port)
  const truth = new Truth(world.models)
  await truth.read(TABLES.map(({ name }) => name))
  const judged = async (by: string, as: string, target: string): Promise<readonly string[]> => {
    const { bytes, method } = request(by, 'GET', target)
    const reply = await exchange.send(bytes, method)
    const met = canariesIn(reply.body.toString('latin1'))
    return leaksIn(truth, request(as, 'GET', target), reply, { met, canaries: new Set() })
  }
  for (const path of ['/api/players?pageSize=100', '/api/teams', '/api/players/1', '/api/trainings?cursor=']) {
    t.deepEqual(await judged('root', 'root', path), [], path)
    t.not((await judged('root', 'uma', path)).length, 0, path)
  }
  t.deepEqual(await judged('tina', 'tina', '/api/players?includeDeleted=true'), [])
  t.regex((await judged('tina', 'tom', '/api/players?includeDeleted=true&pageSize=100')).join(), /may not see/)
  t.regex((await judged('root', 'tom', '/api/players?count=true')).join(), /36 records/)
  exchange.close()
})

test('what a request says is its own, however it is encoded', (t) => {
  const form = Buffer.from('filter=level%3E1000907560%20')
  const { canaries } = sealed(0, named('tina'), { ...request('tina', 'QUERY', '/api/teams'), body: form })
  t.deepEqual([...canaries], ['1000907560'])
  const name = textCanary('c0', 5)
  for (const pack of [gzipSync, deflateSync, brotliCompressSync]) {
    const parts = { ...request('tina', 'POST', '/api/skills'), body: pack(Buffer.from(JSON.stringify({ name }))) }
    const headers = [...parts.headers, ['content-encoding', 'any'] as const]
    t.deepEqual([...sealed(0, named('tina'), { ...parts, headers }).canaries], [name])
  }
  const escaped = Buffer.from('select=name&%69%6e%63%6c%75%64%65%44%65%6c%65%74%65%64=true')
  t.is(deletedOf(sealed(0, named('tina'), { ...request('tina', 'QUERY', '/api/skills'), body: escaped })), 'Skill')
  t.is(deletedOf(sealed(0, named('tina'), { ...request('tina', 'QUERY', '/api/skills'), body: form })), null)
})

test('a deleted row is open while somebody restores it, and no other row of its table', async (t) => {
  const exchange = new Exchange(world.port)
  const truth = new Truth(world.models)
  await truth.read(['Skill'])
  await truth.read(['Skill'])
  const asked = request('tom', 'GET', '/api/skills?includeDeleted=true&sort=id&pageSize=8')
  const reply = await exchange.send(asked.bytes, asked.method)
  const met = canariesIn(reply.body.toString('latin1'))
  const judged = (): readonly string[] =>
    leaksIn(truth, request('tom', 'GET', '/api/skills'), reply, { met, canaries: new Set() })
  const row = restoredBy(request('rita', 'POST', '/api/skills/5/restore'))
  t.is(row, 'Skill 5')
  t.regex(judged().join(), /\(Skill 5 name\)/)
  truth.restored(['Skill 5'])
  t.deepEqual(judged(), [])
  truth.restored(['Skill 4'])
  t.regex(judged().join(), /\(Skill 5 name\)/)
  t.is(restoredBy(request('rita', 'POST', '/api/skills/5')), null)
  exchange.close()
})

test('an average is none of the numbers that it may be by chance, unless it is of one record', async (t) => {
  const truth = new Truth(world.models)
  await truth.read(['Player'])
  const hidden = String(truth.rows('Player').get('2')?.wage)
  const asked = request('tom', 'GET', '/api/players?aggregate=avg(level),count')
  const judged = (item: object): readonly string[] => {
    const body = Buffer.from(JSON.stringify({ items: [item] }))
    const met = canariesIn(body.toString('latin1'))
    const reply = { status: 200, head: '', headers: new Map<string, string>(), body, surplus: '' }
    return leaksIn(truth, asked, reply, { met, canaries: new Set() })
  }
  const [whole = ''] = hidden.split('.')
  t.regex(whole, /^1\d{9}$/)
  t.deepEqual(judged({ count: 3, avg: { level: Number(hidden) } }), [])
  t.deepEqual(judged({ avg: { level: hidden } }), [])
  t.deepEqual(judged({ count: 3, avg: { team: { budget: Number(hidden) } } }), [])
  for (const item of [
    { count: 1, avg: { level: hidden } },
    { count: 3, min: { level: hidden } },
    { count: 3, avg: { level: hidden }, max: { level: hidden } },
    { count: 1, avg: { team: { budget: hidden } } },
    { count: 3, min: { team: { budget: hidden } } },
  ]) {
    t.regex(judged(item).join(), /Player 2 wage/, JSON.stringify(item))
  }
})

test('a change by one caller, judged as if it were one by another, is a fault', async (t) => {
  const exchange = new Exchange(world.port)
  const truth = new Truth(world.models)
  await truth.read(['Player'])
  const mine = request('tina', 'PATCH', '/api/players/1', { name: 'changed', bonus: 'changed' })
  const tagged = sealed(0, mine.caller, { ...mine, headers: [...mine.headers, ['if-match', '*']] })
  t.is((await exchange.send(tagged.bytes, 'PATCH')).status, 200)
  await truth.read(['Player'])
  const judged = (by: FuzzRequest): readonly string[] =>
    changeFaults(tableNamed('Player'), truth.rowsBefore('Player'), truth.rows('Player'), [by])
  t.deepEqual(judged(mine), [])
  t.deepEqual(judged(request('uma', 'PATCH', '/api/players/1')), [
    'Player 1: written by somebody who may not',
    'Player 1: updated by tina',
  ])
  t.deepEqual(judged(request('rita', 'GET', '/api/players/1')), ['Player 1: updated by tina'])
  exchange.close()
  await world.reset()
})

test('what is found is told as the shortest request that shows it', async (t) => {
  // Who is taken for another is shown what is not theirs: the fault is in the request, so that it is there for certain.
  const headers = [...Object.entries(named('root').headers), ['prefer', 'x=y'] as const]
  const target = '/api/players?filter=level%3E0&sort=-name&pageSize=50&select=name,bonus'
  const worn = sealed(0, named('uma'), { kind: 'test', method: 'GET', target, headers, body: null })
  const told = await shrunk(
    seeds,
    { index: 0, what: 'a value that uma may not see', request: '', reply: '', of: [worn] },
    [],
  )
  t.regex(told.request, /^curl .*\$URL"'\/api\/players' -H 'authorization: Bearer \S+' {3}# as uma$/)
})

test('a reply that is none of those that are to be given is a fault', (t) => {
  const asked = request('tom', 'GET', '/api/players')
  const reply = (status: number, type: string, text: string): string => {
    const headers = new Map([
      ['x-fuzzed', '1'],
      ['content-type', type],
    ])
    return faultsOf(asked, { status, head: '', headers, body: Buffer.from(text), surplus: '' }).join('; ')
  }
  const problem = { type: 'about:blank', title: 'No', status: 400 }
  t.is(reply(400, 'application/problem+json', JSON.stringify(problem)), '')
  t.is(reply(200, 'application/json', '{}'), '')
  t.is(reply(500, 'application/problem+json', JSON.stringify({ ...problem, status: 500 })), 'status 500')
  t.is(reply(400, 'text/html', '<pre>'), '400 of type text/html: <pre>; a problem that is none: <pre>')
  t.regex(reply(404, 'application/problem+json', JSON.stringify(problem)), /status 400 with status 404/)
  t.is(reply(503, 'application/problem+json', JSON.stringify({ ...problem, status: 503 })), '503 without Retry-After')
  t.regex(reply(200, 'application/json', '{"a":'), /no JSON/)
  t.regex(reply(400, 'application/problem+json', JSON.stringify({ ...problem, detail: 'SQLITE_ERROR' })), /insides/)
})
