// By what the callers of one `Idempotency-Key` are told apart: who they are, and what they may see.

import { inspect } from 'node:util'
import ava from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, type Identity, Operations, Problem } from '../../../../lib/index.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'

const test = ava.serial

/** Who asks next: each request is one's own. */
let asking: Identity | null = null
let claims: unknown = null
/** How often the scope of parts was asked, and which of these times it fails. */
let scopes = 0
let failing = 0
const identity = (): Identity | null => asking

const models: Record<string, ModelStatic<Model>> = {}
const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING(9) }, plain)
  const Land = sequelize.define('Land', { name: DataTypes.STRING(9) }, plain)
  const Part = sequelize.define('Part', { name: DataTypes.STRING(9), tenant: DataTypes.INTEGER }, plain)
  const Game = sequelize.define(
    'Game',
    { name: DataTypes.STRING(9), stake: DataTypes.INTEGER, prize: DataTypes.INTEGER },
    plain,
  )
  Game.belongsTo(Team, { as: 'home', foreignKey: 'homeId' })
  Game.belongsTo(Land, { as: 'land', foreignKey: 'landId' })
  Game.hasMany(Part, { as: 'parts', foreignKey: 'gameId' })
  Object.assign(models, { Team, Land, Part, Game })
  const may =
    (permission: string) =>
    ({ identity: caller }: { readonly identity: Identity | null }): boolean =>
      caller?.permissions.has(permission) === true
  const operations = Operations.AllWithBulk | Operations.Replace | Operations.BulkUpdate
  const options: CrudOptions = {
    identity,
    operations,
    idempotency: true,
    onError: () => undefined,
    mask: { stake: 'stake', prize: 'prize' },
    flatten: ['home', 'land'],
    relations: { parts: { write: true } },
  }
  const user: RequestHandler = (req, _res, next) => {
    Object.assign(req, { user: claims })
    next()
  }
  app.use('/session', user, crudRouter(Team, { idempotency: true }))
  app.use(
    crudRouter(Team, { identity, getListPolicy: may('teams') }),
    crudRouter(Land, {
      identity,
      getListPolicy: may('lands'),
      scope: ({ identity: caller }) => ({ name: caller?.permissions.has('abroad') === true ? 'Sweden' : 'Poland' }),
    }),
    crudRouter(Part, {
      identity,
      scope: ({ identity: caller }) => {
        scopes += 1
        if (scopes === failing) throw new Error('no tenants')
        if (caller?.permissions.has('none') === true) throw new Problem({ status: 403 })
        return { tenant: 1 }
      },
    }),
    crudRouter(Game, options),
  )
})
await models.Team?.create({ name: 'Lakers' })
await models.Land?.create({ name: 'Poland' })
test.after.always(() => stage.close())

const caller = (more: Partial<Identity> & { readonly may?: readonly string[] }): Identity => {
  const { may = [], ...given } = more
  return { name: null, roles: new Set(), permissions: new Set(may), claims: {}, ...given }
}

let number = 0

/** Sends one body under one key as each of them. */
async function sent(
  send: (headers: Record<string, string>) => Promise<Answer>,
  callers: readonly Identity[],
): Promise<readonly Answer[]> {
  number += 1
  const headers = { 'Idempotency-Key': `key ${number}` }
  const answers: Answer[] = []
  for (const each of callers) {
    asking = each
    answers.push(await send(headers))
  }
  return answers
}

const game = { name: 'final', stake: 5, prize: 7, homeId: 1, landId: 1 }
const create = (headers: Record<string, string>) => stage.post('/api/games', game, headers)
const isReplay = (answer: Answer | undefined): boolean => answer?.headers.get('idempotency-replayed') === 'true'

test('who has a subject is the same caller, whatever else is said of them by now', async (t) => {
  for (const known of [
    { name: null, claims: { sub: 's' } },
    { name: 'Ann', claims: { sub: 's' } },
    { name: '', claims: { sub: 7n } },
  ]) {
    const said = (email: string): Identity => caller({ ...known, claims: { ...known.claims, email } })
    const [first, again] = await sent(create, [said('a@x'), said('b@x')])
    t.is(first?.status, 201)
    t.true(isReplay(again), String(known.claims.sub))
  }
})

test('a name, and an empty subject, are no more than a name: who has another id is another caller', async (t) => {
  for (const known of [
    { name: 'Ann', claims: {} },
    { name: '', claims: {} },
    { name: '', claims: { sub: '' } },
    { name: 'Ann', claims: { sub: '' } },
    { name: 'Ann', claims: { sub: null } },
  ]) {
    const said = (id: number): Identity => caller({ ...known, claims: { ...known.claims, id } })
    const [first, again, other] = await sent(create, [said(1), said(1), said(2)])
    t.is(first?.status, 201)
    t.true(isReplay(again), JSON.stringify(known))
    t.false(isReplay(other), JSON.stringify(known))
  }
})

/** Refers to itself. */
function circular(id: number): object {
  const value: { id: number; own?: object } = { id }
  value.own = value
  return value
}

function deep(id: number): object {
  return { ...circular(1), of: { of: { of: { of: { id } } } } }
}

class Hidden {
  readonly #id: number
  constructor(id: number) {
    this.#id = id
  }
  toString(): string {
    return `user ${this.#id}`
  }
}

class Untold {
  readonly id: number
  constructor(id: number) {
    this.id = id
  }
  toJSON(): never {
    throw new TypeError('this is not to be told')
  }
}

test('callers are told apart by keys that are no text as well: numbers, large ones, objects that say what they are', async (t) => {
  const keyOf = (hex: string) => ({ toJSON: () => hex })
  for (const [one, other] of [
    [1, 2],
    [1, '1'],
    [1n, 2n],
    [keyOf('a1'), keyOf('a2')],
    [Buffer.from('a'), Buffer.from('b')],
    [1n, '1'],
    [1, 1n],
    [true, 'true'],
    [Symbol('a'), Symbol('b')],
    [(a: number) => a, (b: number) => b],
    [{ field: { name: 'a', of: 1 } }, { field: { name: 'a', of: 2 } }],
    [{ relation: { of: 1 } }, { relation: { of: 2 } }],
    [circular(1), circular(2)],
    // As it looks from outside, however deep that is.
    [deep(1), deep(2)],
    [new Hidden(1), new Hidden(2)],
    [new Untold(1), new Untold(2)],
    [new Map([['id', 1]]), new Map([['id', 2]])],
    [new Set([1]), new Set([2])],
    [
      { field: 'a', relation: null },
      { field: 'b', relation: null },
    ],
  ]) {
    const [first, again, foreign] = await sent(create, [
      caller({ claims: { id: one } }),
      caller({ claims: { id: one } }),
      caller({ claims: { id: other } }),
    ])
    t.is(first?.status, 201)
    t.true(isReplay(again), String(one))
    t.is(foreign?.status, 201)
    t.false(isReplay(foreign), String(one))
  }
})

test('claims beside the known ones tell callers apart, and so does the whole identity where none is known', async (t) => {
  const pairs: readonly (readonly [Partial<Identity>, Partial<Identity>])[] = [
    ...['userId', 'uid', '_id', 'accountId'].map(
      (claim) => [{ claims: { [claim]: 1 } }, { claims: { [claim]: 2 } }] as const,
    ),
    [{ claims: { oid: 'o', tid: 't' } }, { claims: { oid: 'o', tid: 'u' } }],
    [{ claims: { sub: 's', tenant: 1 } }, { claims: { sub: 's', tenant: 2 } }],
    [{ claims: { sub: 's', of: { tenants: new Set([1]) } } }, { claims: { sub: 's', of: { tenants: new Set([2]) } } }],
    [{ claims: { user: { id: new Hidden(1) } } }, { claims: { user: { id: new Hidden(2) } } }],
    [
      { name: 'Ann', claims: { uid: 1 } },
      { name: 'Ann', claims: { uid: 2 } },
    ],
    [{ roles: new Set(['a']) }, { roles: new Set(['b']) }],
    [{ userId: 1 } as Partial<Identity>, { userId: 2 } as Partial<Identity>],
  ]
  for (const [one, other] of pairs) {
    const [first, again, foreign] = await sent(create, [caller(one), caller(structured(one)), caller(other)])
    t.is(first?.status, 201)
    t.true(isReplay(again), inspect(one))
    t.is(foreign?.status, 201)
    t.false(isReplay(foreign), inspect(one))
  }
})

test('claims that are an object without members of its own tell callers apart', async (t) => {
  for (const name of [null, 'Ann']) {
    const said = (id: number): Identity => caller({ name, claims: new Hidden(id) as unknown as Identity['claims'] })
    const [first, again, other] = await sent(create, [said(1), said(1), said(2)])
    t.is(first?.status, 201)
    t.true(isReplay(again))
    t.false(isReplay(other))
  }
})

/** A user whose members are getters alone, some of the class that it extends. */
class Member {
  readonly #id: number
  constructor(id: number) {
    this.#id = id
  }
  get userId(): number {
    return this.#id
  }
}

class Named extends Member {
  get name(): string {
    return 'Ann'
  }
}

test('claims whose members are getters of a class tell callers apart, whatever name callers share', async (t) => {
  for (const one of [Member, Named]) {
    const said = (id: number): Identity => caller({ name: 'Ann', claims: new one(id) as object as Identity['claims'] })
    const [first, again, other] = await sent(create, [said(1), said(1), said(2)])
    t.is(first?.status, 201)
    t.true(isReplay(again))
    t.false(isReplay(other))
  }
})

/** A user with a member of its own, a getter, and private contents that only `toJSON` shows. */
class Mixed extends Member {
  readonly role = 'user'
}

class Private {
  readonly #id: number
  readonly exp: number
  constructor(id: number, exp = 0) {
    this.#id = id
    this.exp = exp
  }
  get kind(): string {
    return 'user'
  }
  toJSON(): object {
    return { id: this.#id, exp: this.exp }
  }
}

class Changing extends Private {
  static reads = 0
  get seen(): number {
    Changing.reads += 1
    return Changing.reads
  }
}

let isTurned = false

/** The same members, in the opposite order each time. */
function turned(claims: object): object {
  isTurned = !isTurned
  return isTurned ? claims : Object.fromEntries(Object.entries(claims).toReversed())
}

const OBJECTS: readonly (readonly [what: string, make: (id: number) => object])[] = [
  ['a Map', (id) => new Map([['userId', id]])],
  ['search parameters', (id) => new URLSearchParams({ userId: String(id) })],
  ['members beside getters', (id) => new Mixed(id)],
  ['private contents', (id) => new Private(id)],
  ['members that are not enumerable', (id) => Object.defineProperty({}, 'userId', { value: id })],
  ['inherited members', (id) => Object.create({ userId: id }) as object],
  ['no prototype', (id) => Object.assign(Object.create(null) as object, { userId: id })],
  ['a text of its own beside a member without a value', (id) => Object.assign(new Hidden(id), { role: undefined })],
  ['JSON of its own beside a getter that differs each time', (id) => new Changing(id)],
  ['a member within JSON that is named like one of tokens', (id) => ({ toJSON: () => ({ grant: { jti: id } }) })],
  ['members in another order in each token', (id) => turned({ own: circular(1), userId: id })],
]

for (const [what, make] of OBJECTS) {
  test(`claims with ${what} tell callers apart, with a common name and without`, async (t) => {
    for (const name of [null, 'Ann']) {
      const said = (id: number): Identity => caller({ name, claims: make(id) as Identity['claims'] })
      const [first, again, other] = await sent(create, [said(1), said(1), said(2)])
      t.is(first?.status, 201)
      t.true(isReplay(again))
      t.false(isReplay(other))
    }
  })
}

test('claims that are a Sequelize instance tell callers apart, and the next instance of a user is the same caller', async (t) => {
  const User = stage.sequelize.define('claimant', { name: DataTypes.STRING, kind: DataTypes.STRING })
  const said = (id: number): Identity =>
    caller({
      name: 'Ann',
      claims: User.build({ id, name: 'Ann', kind: 'user' }, { isNewRecord: false }) as object as Identity['claims'],
    })
  const [first, again, other] = await sent(create, [said(1), said(1), said(2)])
  t.is(first?.status, 201)
  t.true(isReplay(again))
  t.false(isReplay(other))
})

test('the expiry of a token in claims of a class tells no callers apart', async (t) => {
  const said = (id: number, exp: number): Identity =>
    caller({ claims: new Private(id, exp) as object as Identity['claims'] })
  const [first, again, other] = await sent(create, [said(1, 10), said(1, 20), said(2, 20)])
  t.is(first?.status, 201)
  t.true(isReplay(again))
  t.false(isReplay(other))
})

test('users of sessions whose members are getters are told apart', async (t) => {
  const headers = { 'Idempotency-Key': 'session of getters' }
  const make = () => stage.post('/session/api/teams', { name: 'x' }, headers)
  claims = new Named(1)
  t.is((await make()).status, 201)
  claims = new Named(1)
  t.true(isReplay(await make()))
  claims = new Named(2)
  t.false(isReplay(await make()))
})

test('a member of the identity beside the known ones tells callers of one name apart', async (t) => {
  const said = (userId: number): Identity => caller({ name: 'Ann', userId } as Partial<Identity>)
  const [first, again, other] = await sent(create, [said(1), said(1), said(2)])
  t.is(first?.status, 201)
  t.true(isReplay(again))
  t.false(isReplay(other))
})

/** The same in another order of claims. */
function structured(given: Partial<Identity>): Partial<Identity> {
  if (given.claims === undefined) return given
  return { ...given, claims: Object.fromEntries(Object.entries(given.claims).toReversed()) }
}

test('the next token of a caller is of the same caller', async (t) => {
  for (const claims of [{ uid: 1 }, { sub: 's', tenant: 1 }, { oid: 'o', tid: 't' }, { sub: 's' }]) {
    const token = (at: number): Identity =>
      caller({
        claims: { ...claims, exp: at, iat: at, nbf: at, jti: String(at), auth_time: at, nonce: String(at) },
      })
    const [first, again] = await sent(create, [token(1), token(2)])
    t.is(first?.status, 201)
    t.true(isReplay(again), inspect(claims))
  }
})

test('where nothing else asks who somebody is, the users of sessions are told apart as well', async (t) => {
  const headers = { 'Idempotency-Key': 'session' }
  const make = () => stage.post('/session/api/teams', { name: 'x' }, headers)
  claims = { id: 1 }
  const first = await make()
  t.is(first.status, 201)
  t.true(isReplay(await make()))
  claims = { id: 2 }
  const other = await make()
  t.false(isReplay(other))
  t.not(other.body.id, first.body.id)
})

const claimsOf = { claims: { sub: 's' } }

test('who sees another field than before, and no longer the first one, is another caller', async (t) => {
  const [first, after] = await sent(create, [
    caller({ ...claimsOf, may: ['stake'] }),
    caller({ ...claimsOf, may: ['prize'] }),
  ])
  t.like(first?.body, { stake: 5, prize: null })
  t.false(isReplay(after))
  t.like(after?.body, { stake: null, prize: 7 })
})

test('that holds as well for a write whose reply has no field', async (t) => {
  const remove = (headers: Record<string, string>) => stage.post('/api/games/bulk-delete', [99_999], headers)
  const seer = caller({ ...claimsOf, may: ['stake'] })
  const [first, again, ...others] = await sent(remove, [
    seer,
    seer,
    caller({ ...claimsOf, may: ['prize'] }),
    caller({ ...claimsOf, may: ['stake', 'prize'] }),
    caller(claimsOf),
  ])
  t.is(first?.status, 200)
  t.true(isReplay(again))
  t.deepEqual(others.map(isReplay), [false, false, false])
})

test('who is shown another record than before, and no longer the first one, is another caller', async (t) => {
  const put = async (headers: Record<string, string>): Promise<Answer> =>
    stage.send('PUT', '/api/games/1', { json: game, headers })
  const patch = async (headers: Record<string, string>): Promise<Answer> => stage.patch('/api/games/1', game, headers)
  for (const send of [create, put, patch]) {
    const [first, after] = await sent(send, [
      caller({ ...claimsOf, may: ['teams'] }),
      caller({ ...claimsOf, may: ['lands'] }),
    ])
    t.like(first?.body, { homeName: 'Lakers', landName: null })
    t.false(isReplay(after))
    t.like(after?.body, { homeName: null, landName: 'Poland' })
  }
})

test('who may meet other records than before, of those that are shown, is another caller', async (t) => {
  const rename = (headers: Record<string, string>) => stage.patch('/api/games/1', { name: 'new' }, headers)
  const [first, after] = await sent(rename, [
    caller({ ...claimsOf, may: ['lands'] }),
    caller({ ...claimsOf, may: ['lands', 'abroad'] }),
  ])
  t.is(first?.body.landName, 'Poland')
  t.false(isReplay(after))
  t.is(after?.body.landName, null)
})

test('whom the resource of records refuses that a body may hold writes once all the same, without any', async (t) => {
  const refused = caller({ ...claimsOf, may: ['none'] })
  const [first, again, other] = await sent(create, [refused, refused, caller(claimsOf)])
  t.is(first?.status, 201)
  t.true(isReplay(again))
  t.is(other?.status, 201)
  t.false(isReplay(other), 'who is not refused is another caller')
})

test('a scope that fails where it tells callers apart is a failure, and nothing is written', async (t) => {
  const statuses: number[] = []
  const before = await models.Game?.count()
  do {
    failing += 1
    scopes = 0
    const [answer] = await sent(create, [caller(claimsOf)])
    statuses.push(answer?.status ?? 0)
  } while (scopes >= failing)
  failing = 0
  t.true(statuses.length > 2)
  t.deepEqual([...new Set(statuses.slice(0, -1))], [500])
  t.is(statuses.at(-1), 201)
  t.is(await models.Game?.count(), Number(before) + 1)
})
