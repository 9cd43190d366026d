// Callers whose scopes differ in shape: no attribute, one, another, two, one that is null, no scope at all. Whoever asks
// first, the other gets the answer that nobody's asking before would have changed.

import ava from 'ava'
import { databaseName } from '../../support/database.js'
import { eventPackets, openPush, type Subscriber } from '../../support/push.js'
import {
  EVERYBODY,
  fillTables,
  isRecordOf,
  OWN_REQUESTS,
  openWorld,
  requestsOver,
  TEAMS,
  type Who,
  type World,
} from '../../support/scopes.js'
import { asUser } from '../../support/stage.js'

// One after the other, or the first would not be done for minutes.
const test = ava.serial

const stage = await openPush(() => undefined)
await fillTables(stage.sequelize)

let worlds = 0

function newWorld(isMounted = true): World {
  worlds += 1
  const world = openWorld({ ...stage, client: stage }, `w${worlds}`)
  if (isMounted) world.mountTeam()
  return world
}

test.after.always(() => stage.close())

const OVER_TEAM = requestsOver('Team')
const OVER_RIVAL = requestsOver('Rival')

/** What is answered where nobody else has asked before. */
const references = new Map<Who, Promise<ReadonlyMap<string, unknown>>>()

function referencesOf(who: Who): Promise<ReadonlyMap<string, unknown>> {
  const known = references.get(who) ?? answersOf(newWorld(), who)
  references.set(who, known)
  return known
}

async function answersOf(world: World, who: Who): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>()
  for (const request of [...OVER_TEAM, ...OVER_RIVAL, ...OWN_REQUESTS]) {
    answers.set(request, await world.send(who, request))
  }
  return answers
}

/** The secrets of teams that somebody's scope does not have. */
function foreignTo(who: Who): readonly string[] {
  return TEAMS.filter((team) => !isRecordOf(team, who)).map(({ secret }) => String(secret))
}

for (const who of EVERYBODY) {
  test(`nobody tells ${who} of a foreign team, asked or not asked before`, async (t) => {
    for (const [request, answer] of await referencesOf(who)) {
      if (request.includes('Rival') || request.includes('rivals')) continue
      const text = JSON.stringify(answer)
      t.regex(text, /^\{"status":(?:200|404)/, request)
      for (const secret of foreignTo(who)) t.false(text.includes(secret), `${request}: ${text}`)
    }
  })
}

/** Callers who ask after another caller: on a server each caller asks first once, and second once. */
function followersOf(first: Who): readonly Who[] {
  if (databaseName === 'sqlite') return EVERYBODY.filter((who) => who !== first)
  return EVERYBODY.filter((_, index) => EVERYBODY.at(index - 1) === first)
}

for (const first of EVERYBODY) {
  for (const second of followersOf(first)) {
    test(`${second} gets the same answers where ${first} has asked before`, async (t) => {
      const [mine, theirs] = [await referencesOf(second), await referencesOf(first)]
      const world = newWorld()
      for (const request of [...OVER_TEAM, ...OWN_REQUESTS]) {
        t.deepEqual(await world.send(first, request), theirs.get(request), `first: ${request}`)
        t.deepEqual(await world.send(second, request), mine.get(request), request)
      }
    })
  }
}

for (const who of EVERYBODY) {
  test(`${who} gets the same answers beside a relation to the same records without a scope`, async (t) => {
    const mine = await referencesOf(who)
    const [there, back] = [newWorld(), newWorld()]
    for (const [index, request] of OVER_TEAM.entries()) {
      const other = OVER_RIVAL[index] ?? ''
      t.deepEqual(await there.send(who, request), mine.get(request), request)
      t.deepEqual(await there.send(who, other), mine.get(other), other)
      t.deepEqual(await back.send(who, other), mine.get(other), other)
      t.deepEqual(await back.send(who, request), mine.get(request), request)
    }
  })

  test(`${who} gets the same answers where everything was open until the scope was mounted`, async (t) => {
    const mine = await referencesOf(who)
    const world = newWorld(false)
    const before = OVER_TEAM.map((request) => world.send(who, request))
    await Promise.all(before)
    world.mountTeam()
    for (const request of OVER_TEAM) t.deepEqual(await world.send(who, request), mine.get(request), request)
  })
}

test('subscribers hear what a GET would show them, in whatever order they came', async (t) => {
  const ids = [1, 3, 5, 7, 9, 11, 13]
  for (const order of [EVERYBODY, [...EVERYBODY].reverse(), [...EVERYBODY.slice(2), ...EVERYBODY.slice(0, 2)]]) {
    const { fans, send } = newWorld()
    const subscribers: (readonly [Who, Subscriber])[] = []
    for (const who of order) subscribers.push([who, await stage.subscribe(fans, { headers: asUser(who) })])
    const [, witness] = subscribers[0] ?? []
    if (witness === undefined) throw new TypeError('there is nobody to hear anything')
    for (const id of ids) fans.notify?.updated(id)
    await send('all', 'PATCH fans/2 {"level":2}')
    await stage.drain(fans, witness)
    for (const [who, subscriber] of subscribers) {
      const fresh = newWorld()
      const expected: unknown[] = []
      for (const id of [...ids, 2]) {
        const { body } = (await fresh.send(who, `GET fans/${id}`)) as { body: unknown }
        expected.push(['OnUpdated', body])
      }
      t.deepEqual(subscriber.received, expected, who)
      for (const secret of foreignTo(who))
        t.false(eventPackets(subscriber).join().includes(secret), `${who}: ${secret}`)
    }
  }
})
