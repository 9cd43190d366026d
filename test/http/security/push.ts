// Push. Each test is named after its rule. What a subscriber may hear is what its own
// requests are answered with, so that these are what the events are held against.

import ava from 'ava'
import { DataTypes, type FindOptions, type Model, type ModelOptions, type ModelStatic, Op } from 'sequelize'
import {
  allOf,
  authenticated,
  type CrudOptions,
  type CrudRouter,
  crudHub,
  crudRouter,
  hasRole,
  Operations,
  type Scope,
  type ScopeFunction,
} from '../../../lib/index.js'
import {
  eventPackets,
  type HubOwner,
  openPush,
  type PushStage,
  plainToken,
  type Subscriber,
} from '../../support/push.js'
import { bearer, identity } from '../../support/tokens.js'

// The hubs are shared, and everything that they tell is counted.
const test = ava.serial

const plain = { timestamps: false }
const everything = Operations.AllWithBulk | Operations.Restore

/** Tenants have their own records, and root has all. */
const byTenant: ScopeFunction = ({ identity: caller }) =>
  caller?.roles.has('root') ? null : ({ tenantId: caller?.claims.tenant } as Scope)

interface World extends PushStage {
  readonly players: CrudRouter
}

const errors: unknown[] = []
const common: CrudOptions = { identity, operations: everything, onError: (error) => errors.push(error) }

/** Everything at once: players of tenants, with masks, policies, and flattened teams, vaults and leagues that have their own. */
async function openWorld(): Promise<World> {
  let players!: CrudRouter
  const stage = await openPush(({ sequelize }, app, io) => {
    const League = sequelize.define('League', { name: DataTypes.STRING, tenantId: DataTypes.INTEGER }, plain)
    const Team = sequelize.define(
      'Team',
      { name: DataTypes.STRING, budget: DataTypes.STRING, hidden: DataTypes.STRING, tenantId: DataTypes.INTEGER },
      plain,
    )
    const Vault = sequelize.define('Vault', { name: DataTypes.STRING, code: DataTypes.STRING }, plain)
    const Player = sequelize.define(
      'Player',
      {
        name: DataTypes.STRING,
        salary: DataTypes.STRING,
        secret: DataTypes.STRING,
        note: DataTypes.STRING,
        tenantId: { type: DataTypes.INTEGER, allowNull: false },
        extra: DataTypes.JSON,
      },
      plain,
    )
    Team.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Player.belongsTo(Vault, { as: 'vault', foreignKey: 'vaultId' })
    app.use(crudRouter(League, { ...common, operations: Operations.AllWithBulk, scope: byTenant }))
    app.use(
      crudRouter(Team, {
        ...common,
        softDelete: true,
        mask: { budget: 'finance' },
        fields: { hidden: { exclude: true } },
        flatten: ['league'],
      }),
    )
    app.use(
      crudRouter(Vault, {
        ...common,
        operations: Operations.AllWithBulk,
        authorizePolicy: hasRole('keeper'),
        mask: { code: 'combination' },
      }),
    )
    players = crudRouter(Player, {
      ...common,
      softDelete: true,
      authorizePolicy: authenticated,
      getListPolicy: allOf(authenticated, hasRole('member')),
      getByIdPolicy: ({ identity: caller }) => caller?.roles.has('blind') !== true,
      fields: { secret: { exclude: true }, note: { exclude: 'list' } },
      mask: { salary: 'payroll', extra: 'payroll', vaultId: { read: 'links' } },
      scope: byTenant,
      flatten: ['team', 'vault'],
      push: { io },
    })
    app.use(players)
  })
  const { sequelize } = stage
  await sequelize.model('League').bulkCreate([
    { name: 'LEAGUE-ONE', tenantId: 1 },
    { name: 'LEAGUE-TWO', tenantId: 2 },
  ])
  await sequelize.model('Team').bulkCreate([
    { name: 'Lakers', budget: 'BUDGET-1', hidden: 'HIDDEN-1', leagueId: 1 },
    { name: 'Celtics', budget: 'BUDGET-2', hidden: 'HIDDEN-2', leagueId: 2 },
    { name: 'DELETED-TEAM', budget: 'BUDGET-3', hidden: 'HIDDEN-3', leagueId: 1, isDeleted: true },
  ])
  await sequelize.model('Vault').bulkCreate([{ name: 'VAULT-N', code: 'CODE-1' }])
  return { ...stage, players }
}

/** Everybody who might be listening: roles, permissions and tenant. */
const CLAIMS: Readonly<Record<string, object>> = {
  root: {
    roles: ['member', 'root', 'keeper'],
    permissions: ['payroll', 'finance', 'links', 'combination'],
  },
  'root without permissions': { roles: ['member', 'root'] },
  'root who may not get': { roles: ['member', 'root', 'blind'], permissions: ['payroll', 'links', 'finance'] },
  'one of tenant 1': { tenant: 1, roles: ['member'] },
  'another of tenant 1': { tenant: 1, roles: ['member', 'unrelated'], permissions: ['unrelated'] },
  'payroll of tenant 1': { tenant: 1, roles: ['member'], permissions: ['payroll'] },
  'payroll of tenant 1, by role': { tenant: 1, roles: ['member', 'payroll'] },
  'finance of tenant 1': { tenant: 1, roles: ['member'], permissions: ['finance'] },
  'keeper of tenant 1': { tenant: 1, roles: ['member', 'keeper'] },
  'keeper of tenant 1 with links': { tenant: 1, roles: ['member', 'keeper'], permissions: ['links', 'combination'] },
  'one of tenant 1 who may not get': { tenant: 1, roles: ['member', 'blind'], permissions: ['payroll'] },
  'one of tenant 2': { tenant: 2, roles: ['member'], permissions: ['finance'] },
  'one of tenant 3, as text': { tenant: '3', roles: ['member'] },
  'finance of tenant 1 and of tenant 2': { tenant: [2, 1], roles: ['member'], permissions: ['finance'] },
}

/** Those whom nobody lets in. */
const STRANGERS: Readonly<Record<string, object | null>> = {
  anonymous: null,
  'no member': { tenant: 1, permissions: ['payroll'] },
  'without a tenant': { roles: ['member'] },
  'of a tenant that is none': { tenant: 'x', roles: ['member'] },
  'of an operator': { tenant: { $gt: 0 }, roles: ['member'] },
  'of a tenant that is half': { tenant: 1.5, roles: ['member'] },
  'of true': { tenant: true, roles: ['member'] },
}

interface Listener {
  readonly who: string
  readonly headers: Record<string, string>
  readonly subscriber: Subscriber
  /** What it should have heard. */
  readonly expected: string[]
}

const world = await openWorld()

/** What reads behind a reply wait for. */
let reading: Promise<void> = Promise.resolve()

/** What those who create parcels wait for. */
let packing: (parcel: object) => Promise<void> | void = () => undefined

/** Resources of one weakness each. */
const hubs = new Map<string, HubOwner>()
const attacked = await openPush(({ sequelize }, app, io) => {
  const use = (name: string, router: CrudRouter, mounted = '/'): void => {
    app.use(mounted, router)
    hubs.set(name, router)
  }
  const named = { name: DataTypes.STRING }
  const keeper = hasRole('keeper')

  const Safe = sequelize.define('Safe', { ...named, code: DataTypes.STRING }, plain)
  const withoutList = Operations.GetById | Operations.Write
  use('byKey', crudRouter(Safe, { ...common, operations: withoutList, getByIdPolicy: keeper, push: { io } }))
  use(
    'unread',
    crudRouter(Safe, {
      ...common,
      route: 'unread',
      operations: Operations.Create,
      authorizePolicy: keeper,
      push: { io },
    }),
  )

  use(
    'written',
    crudRouter(Safe, {
      ...common,
      route: 'written',
      operations: Operations.Create,
      getListPolicy: keeper,
      push: { io },
    }),
  )

  // A resource of one table twice, with one name and one route, below two mount points.
  const Club = sequelize.define('Club', { ...named, tenantId: DataTypes.INTEGER }, plain)
  const Member = sequelize.define('Member', named, plain)
  Member.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
  app.use('/scoped', crudRouter(Club, { ...common, operations: Operations.All, scope: byTenant }))
  app.use('/kept', crudRouter(Club, { ...common, operations: Operations.All, authorizePolicy: keeper }))
  use('member', crudRouter(Member, { ...common, operations: Operations.All, flatten: ['club'], push: { io } }))

  const drafts = (name: string, options: ModelOptions): void => {
    const attributes = { ...named, published: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false } }
    const Draft = sequelize.define(name, attributes, { ...plain, ...options })
    use(name, crudRouter(Draft, { ...common, operations: Operations.AllWithBulk, push: { io } }))
  }
  drafts('Draft', { defaultScope: { where: { published: true } } })
  drafts('OrderedDraft', { defaultScope: { where: { published: true }, order: [['name', 'ASC']] } })
  drafts('HookedDraft', {
    hooks: {
      beforeFind: (options) => {
        options.where = { [Op.and]: [options.where ?? {}, { published: true }] }
      },
    },
  })
  drafts('SoftDraft', { timestamps: true, paranoid: true, defaultScope: { where: { published: true } } })

  const byClaim: ScopeFunction = ({ identity: caller }) =>
    caller?.roles.has('root') ? null : (caller?.claims.within as Scope)
  const Owned = sequelize.define(
    'Owned',
    {
      owner: DataTypes.STRING,
      letters: DataTypes.CHAR(5),
      number: DataTypes.INTEGER,
      big: DataTypes.BIGINT,
      price: DataTypes.DECIMAL(10, 2),
      exact: DataTypes.DECIMAL(24, 6),
      flag: DataTypes.BOOLEAN,
      code: DataTypes.UUID,
      kind: DataTypes.ENUM('low', 'high'),
      day: DataTypes.DATEONLY,
      at: DataTypes.DATE(3),
      clock: DataTypes.TIME,
    },
    plain,
  )
  use('owned', crudRouter(Owned, { ...common, operations: Operations.AllWithBulk, scope: byClaim, push: { io } }))
  const Veiled = sequelize.define(
    'Veiled',
    {
      owner: {
        type: DataTypes.STRING,
        get(this: Model): string {
          return String(this.getDataValue('owner' as never)).toLowerCase()
        },
      },
    },
    plain,
  )
  const Long = sequelize.define('Long', { owner: DataTypes.DECIMAL(20, 2), short: DataTypes.DECIMAL(20, 2) }, plain)
  const fields = { owner: { decimal: 'number' } } as const
  use('long', crudRouter(Long, { ...common, operations: Operations.All, scope: byClaim, push: { io }, fields }))
  const Longer = sequelize.define('Longer', named, plain)
  Longer.belongsTo(Long, { as: 'long', foreignKey: 'longId' })
  use('longer', crudRouter(Longer, { ...common, operations: Operations.All, flatten: ['long'], push: { io } }))
  use('veiled', crudRouter(Veiled, { ...common, operations: Operations.All, scope: byClaim, push: { io } }))

  // Chosen by what no answer shows, and what is flattened has a value of its own for.
  const Depot = sequelize.define('Depot', { ...named, tenantId: DataTypes.INTEGER }, plain)
  const Parcel = sequelize.define(
    'Parcel',
    { ...named, tenantId: DataTypes.INTEGER, at: DataTypes.DATE(3), depth: DataTypes.INTEGER },
    plain,
  )
  Parcel.belongsTo(Depot, { as: 'depot', foreignKey: 'depotId' })
  Parcel.addHook('afterCreate', ({ dataValues }) => packing(dataValues))
  const byDepots: ScopeFunction = ({ identity: caller }) =>
    caller?.roles.has('root') ? null : (caller?.claims.depots as Scope)
  app.use(crudRouter(Depot, { ...common, operations: Operations.All, softDelete: true, scope: byDepots }))
  for (const [name, flatten] of [
    ['parcel', ['depot']],
    ['crate', []],
  ] as const) {
    const hidden = { tenantId: { exclude: ['response', 'list'] } } as const
    const options: CrudOptions = { ...common, scope: byClaim, fields: hidden, flatten, push: { io } }
    use(name, crudRouter(Parcel, { ...options, route: name, operations: Operations.AllWithBulk }))
  }

  const Label = sequelize.define('Label', { ...named, fee: DataTypes.STRING }, plain)
  const Song = sequelize.define('Song', named, plain)
  Song.belongsTo(Label, { as: 'label', foreignKey: 'labelId' })
  app.use(crudRouter(Label, { ...common, operations: Operations.All, mask: { fee: 'payroll' } }))
  use('song', crudRouter(Song, { ...common, operations: Operations.All, flatten: ['label'], push: { io } }))

  const Nomad = sequelize.define('Nomad', { ...named, tenantId: DataTypes.INTEGER }, plain)
  Nomad.belongsTo(Member, { as: 'member', foreignKey: 'memberId' })
  // Those behind the reply, which is part of a transaction.
  Nomad.addHook('beforeFind', ({ transaction }: FindOptions) => (transaction ? undefined : reading))
  Nomad.addHook('afterSave', () => undefined)
  use(
    'nomad',
    crudRouter(Nomad, {
      ...common,
      operations: Operations.AllWithBulk,
      scope: byTenant,
      flatten: ['member'],
      push: { io },
    }),
  )

  const Folder = sequelize.define('Folder', { ...named, meta: DataTypes.JSON }, plain)
  Folder.belongsTo(Member, { as: 'member', foreignKey: 'memberId' })
  const folders = { scope: byClaim, flatten: ['member'], push: { io } }
  use('folder', crudRouter(Folder, { ...common, operations: Operations.All, ...folders }))

  const Twin = sequelize.define('Twin', { ...named, salary: DataTypes.STRING }, plain)
  const twins = { ...common, operations: Operations.All, push: { io } }
  use('bare', crudRouter(Twin, { ...twins, route: 'bare', getListPolicy: keeper }))
  use('masked', crudRouter(Twin, { ...twins, route: 'masked', mask: { salary: '__proto__' } }))

  const Guild = sequelize.define('Guild', named, plain)
  const Bard = sequelize.define('Bard', { ...named, doc: DataTypes.JSON }, plain)
  Bard.belongsTo(Guild, { as: 'guild', foreignKey: 'guildId' })
  use(
    'bard',
    crudRouter(Bard, {
      ...common,
      operations: Operations.All,
      flatten: ['guild'],
      relations: { guild: { fields: ['name'] } },
      push: { io, audience: 'all' },
    }),
  )
  const Ghost = sequelize.define('Ghost', { ...named, tenantId: DataTypes.INTEGER }, plain)
  hubs.set(
    'ghost',
    crudHub(Ghost, { identity, io, softDelete: true, scope: byTenant, onError: (error) => errors.push(error) }),
  )
})

function hubNamed(name: string): HubOwner {
  const hub = hubs.get(name)
  if (hub === undefined) throw new TypeError(`there is no hub ${name}`)
  return hub
}

ava.after.always(async () => {
  await world.close()
  await attacked.close()
})
const path = world.players.resource.route
const root = bearer(CLAIMS.root)

async function listen(claims: typeof CLAIMS): Promise<Listener[]> {
  return Promise.all(
    Object.entries(claims).map(async ([who, given]) => ({
      who,
      headers: bearer(given),
      subscriber: await world.subscribe(world.players, { token: plainToken(given) }),
      expected: [],
    })),
  )
}

/** The record as a listener's own requests show it: by id, or where that is denied in the list; null for not at all. */
async function shownTo({ headers }: Listener, id: number): Promise<string | null> {
  const one = await world.get(`${path}/${id}`, headers)
  if (one.status === 200) return one.text
  if (one.status === 404) return null
  const { body } = await world.get(`${path}?pageSize=1000`, headers)
  const item = body.items.find((each: { id: number }) => each.id === id)
  return item === undefined ? null : JSON.stringify(item)
}

const mark = (id: number): Record<string, unknown> => ({ id, tenantId: 0 })

let recorded: readonly Listener[] = []

test('push decides per subscriber with read policy, mask and scope (CVE-2023-38503)', async (t) => {
  const listeners = await listen(CLAIMS)
  for (const { who, subscriber } of listeners) t.is(subscriber.refusal, null, who)
  const strangers = await Promise.all(
    Object.entries(STRANGERS).map(async ([who, claims]) => {
      const how = claims === null ? {} : { token: plainToken(claims) }
      return [who, await world.subscribe(world.players, how)] as const
    }),
  )
  const expired = await world.subscribe(world.players, { token: plainToken({ ...CLAIMS.root, exp: 1 }) })

  const [witness] = listeners
  if (witness === undefined) throw new TypeError('nobody listens')
  const shown = async (event: string, ids: readonly number[]): Promise<void> => {
    // What is flattened is read when it is told.
    await world.drain(world.players, witness.subscriber, mark)
    for (const id of ids) {
      for (const listener of listeners) {
        const text = await shownTo(listener, id)
        if (text !== null) listener.expected.push(`["${event}",${text}]`)
      }
    }
  }
  const gone = async (ids: readonly number[], send: () => Promise<{ readonly status: number }>): Promise<void> => {
    const before = await Promise.all(listeners.map((listener) => Promise.all(ids.map((id) => shownTo(listener, id)))))
    t.true((await send()).status < 300)
    for (const [index, listener] of listeners.entries()) {
      for (const [place, id] of ids.entries()) {
        if (before[index]?.[place] !== null) listener.expected.push(`["OnDeleted",${id}]`)
      }
    }
  }
  const create = async (json: object, headers: Record<string, string>): Promise<number> => {
    const { status, body, text } = await world.post(path, json, headers)
    t.is(status, 201, text)
    await shown('OnCreated', [body.id])
    return body.id
  }
  const patch = async (id: number, json: object, headers: Record<string, string>): Promise<void> => {
    const { status, text } = await world.patch(`${path}/${id}`, json, headers)
    t.is(status, 200, text)
    await shown('OnUpdated', [id])
  }
  // Who had it before, and has it no more, hears its key.
  const move = async (id: number, json: object, headers: Record<string, string>): Promise<void> => {
    const before = await Promise.all(listeners.map((listener) => shownTo(listener, id)))
    await patch(id, json, headers)
    for (const [index, listener] of listeners.entries()) {
      const isLeft = before[index] !== null && (await shownTo(listener, id)) === null
      if (isLeft) listener.expected.push(`["OnDeleted",${id}]`)
    }
  }

  const rich = { salary: 'SALARY-1', note: 'NOTE-1', extra: { pin: 'PIN-1' } }
  const one = await create({ name: 'a', tenantId: 1, teamId: 1, vaultId: 1, ...rich }, root)
  await world.sequelize.model('Player').update({ secret: 'SECRET-1' }, { where: { id: one } })
  const two = await create({ name: 'b', tenantId: 2, teamId: 2, vaultId: 1, ...rich }, root)
  const three = await create({ name: 'c', tenantId: 3, ...rich }, root)
  // No body can point at what is deleted.
  await world.sequelize.model('Player').update({ teamId: 3 }, { where: { id: three } })
  await patch(three, { name: 'cc' }, root)
  // By those who do not see all of what they write to.
  const four = await create({ name: 'd', teamId: 1, salary: 'SALARY-2' }, bearer(CLAIMS['one of tenant 1']))
  await patch(one, { name: 'aa' }, bearer(CLAIMS['one of tenant 1']))
  await patch(one, { note: 'NOTE-2' }, bearer(CLAIMS['payroll of tenant 1']))
  await patch(two, { name: 'bb' }, bearer(CLAIMS['one of tenant 2']))
  // What most of them see nothing of.
  await patch(one, { salary: 'SALARY-3', extra: { pin: 'PIN-2' } }, root)
  await patch(one, { vaultId: null }, root)
  await patch(one, { vaultId: 1, teamId: 2 }, root)
  await patch(three, { teamId: 1 }, root)
  // Out of one tenant's sight and into another's.
  await move(four, { tenantId: 2 }, root)
  await move(four, { tenantId: 1 }, root)
  const { body: many } = await world.post(
    `${path}/bulk`,
    [1, 2, 1].map((tenantId) => ({ name: 'many', tenantId, teamId: tenantId, ...rich })),
    root,
  )
  const ids: number[] = many.map(({ id }: { id: number }) => id)
  await shown('OnCreated', ids)
  await gone([two], () => world.delete(`${path}/${two}`, root))
  await gone([one], () => world.delete(`${path}/${one}`, bearer(CLAIMS['one of tenant 1'])))
  t.is((await world.post(`${path}/${one}/restore`, undefined, root)).status, 200)
  await shown('OnCreated', [one])
  const backwards = [...ids].reverse()
  await gone(backwards, () => world.post(`${path}/bulk-delete`, backwards, root))
  // What fails tells nobody anything.
  t.is((await world.delete(`${path}/${one}`, bearer(CLAIMS['one of tenant 2']))).status, 404)
  t.is((await world.patch(`${path}/${one}`, { name: 'x' }, bearer(CLAIMS['one of tenant 2']))).status, 404)
  t.is((await world.post(path, { tenantId: 2 }, bearer(CLAIMS['one of tenant 1']))).status, 403)
  await world.drain(world.players, witness.subscriber, mark)

  for (const { who, subscriber, expected } of listeners) t.deepEqual(eventPackets(subscriber), expected, who)
  t.is(witness.expected.length, 23)
  t.is(new Set(listeners.map(({ expected }) => expected.join())).size, 11)
  for (const [who, { refusal, frames, received }] of strangers) {
    t.not(refusal, null, who)
    t.is(frames.length, 1, who)
    t.deepEqual(received, [])
  }
  t.like(expired.refusal?.data, { status: 401 })
  t.is(expired.frames.length, 1)
  recorded = listeners
})

test('push uses the same serialiser as HTTP: no frame holds what its reader may not see (CVE-2022-31112)', (t) => {
  const readers: Readonly<Record<string, RegExp>> = {
    SALARY: /^root$|payroll|may not get/,
    PIN: /^root$|payroll|may not get/,
    BUDGET: /^root$|^root who|finance|tenant 2/,
    'VAULT-N': /^root$|with links/,
    CODE: /^root$|with links/,
    NOTE: /^(?!.*may not get)/,
    'LEAGUE-ONE': /root|tenant 1/,
    'LEAGUE-TWO': /root|tenant 2/,
    SECRET: /^$/,
    HIDDEN: /^$/,
    'DELETED-TEAM': /^$/,
  }
  t.true(recorded.length > 0)
  for (const [secret, who] of Object.entries(readers)) {
    for (const listener of recorded) {
      const isThere = listener.subscriber.frames.join().includes(secret)
      t.is(isThere, who.test(listener.who), `${listener.who}: ${secret}`)
    }
  }
})

test('masking is pure: a payload is frozen, and one class of permissions has nothing of the payload of another (CVE-2026-34363)', async (t) => {
  const { hub } = world.players.resource
  if (hub === null) throw new TypeError('there is no hub')
  const { adapter } = hub
  const sent: unknown[] = []
  const { broadcast } = adapter
  adapter.broadcast = (packet, options) => {
    sent.push(packet.data[1])
    broadcast.call(adapter, packet, options)
  }
  t.teardown(() => {
    adapter.broadcast = broadcast
  })
  const listeners = await listen(CLAIMS)
  const extra = { pin: ['PIN-3', { deep: [1] }] }
  const { body } = await world.post(path, { name: 'x', tenantId: 1, salary: 'SALARY-4', extra, teamId: 1 }, root)
  await world.drain(world.players, (listeners[0] as Listener).subscriber, mark)
  const payloads = sent.filter((each) => typeof each === 'object' && each !== null)
  t.true(payloads.length >= 6)
  const seen = new Set<unknown>()
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    t.true(Object.isFrozen(value))
    t.false(seen.has(value))
    seen.add(value)
    for (const member of Object.values(value)) walk(member)
  }
  for (const payload of payloads) walk(payload)
  t.throws(() => Object.assign(payloads[0] as object, { salary: 'SALARY-5' }), { instanceOf: TypeError })
  for (const listener of listeners) {
    const text = await shownTo(listener, body.id)
    t.deepEqual(eventPackets(listener.subscriber), text === null ? [] : [`["OnCreated",${text}]`], listener.who)
  }
})

test('the hub listens to no client event, and no packet ends the process (CVE-2023-37899, CVE-2023-38504, CVE-2024-38355)', async (t) => {
  const { hub } = world.players.resource
  const [noisy, witness] = await Promise.all([
    world.subscribe(world.players, { token: plainToken(CLAIMS.root) }),
    world.subscribe(world.players, { token: plainToken(CLAIMS.root) }),
  ])
  // Socket.IO's own listener to `error` keeps that from ending the process; ours is to the end of the connection.
  const { id = '' } = (
    await world.subscribe(world.players, {
      token: plainToken({ ...CLAIMS.root, exp: Math.ceil(Date.now() / 1000) + 3600 }),
    })
  ).socket
  t.deepEqual(hub?.sockets.get(id)?.eventNames(), ['error', 'disconnect'])
  const rooms = [...(hub?.adapter.rooms.keys() ?? [])]
  for (const event of ['error', 'OnCreated', 'OnDeleted', 'join', 'sequelize-crud-router:joined', '__proto__', '']) {
    noisy.socket.emit(event, rooms[0], { id: 1 }, Buffer.from('x'), () => t.fail('acknowledged'))
  }
  const { engine } = noisy.socket.io
  const closed = new Promise((resolve) => engine.once('close', resolve))
  engine.write(`2${hub?.name},["disconnect"]`)
  await closed
  await world.post(path, { name: 'alive', tenantId: 1 }, root)
  await world.drain(world.players, witness, mark)
  t.deepEqual(
    witness.received.map(([event]) => event),
    ['OnCreated'],
  )
})

test('what a packet claims to have attached is bounded, and the handshake is open to no other origin (CVE-2026-69185, CVE-2020-28481)', async (t) => {
  const { headers, status } = await world.get('/socket.io/?EIO=4&transport=polling', { origin: 'https://evil.example' })
  t.is(status, 200)
  t.is(headers.get('access-control-allow-origin'), null)
  const { socket } = await world.subscribe(world.players, { token: plainToken(CLAIMS.root) })
  const { engine } = socket.io
  const closed = new Promise((resolve) => engine.once('close', resolve))
  engine.write(`5999999999-${world.players.resource.hub?.name},["x",{"_placeholder":true,"num":0}]`)
  await closed
  t.pass()
})

test('sockets end at exp (CVE-2025-3930, CVE-2025-4643)', async (t) => {
  const exp = Math.floor(Date.now() / 1000) + 3
  const [brief, lasting] = await Promise.all([
    world.subscribe(world.players, { token: plainToken({ ...CLAIMS.root, exp }) }),
    world.subscribe(world.players, { token: plainToken({ ...CLAIMS.root, exp: exp + 3600 }) }),
  ])
  t.is(brief.refusal, null)
  await new Promise((resolve) => brief.socket.once('disconnect', resolve))
  await world.post(path, { name: 'after', tenantId: 1 }, root)
  await world.drain(world.players, lasting, mark)
  t.deepEqual(eventPackets(brief), [])
  t.is(lasting.received.length, 1)
})

// What else a subscriber might learn more by than by its requests.

test('where there are no lists, the policy of GET by id decides who connects', async (t) => {
  const hub = hubNamed('byKey')
  t.like((await attacked.subscribe(hub)).refusal?.data, { status: 401 })
  t.like((await attacked.subscribe(hub, { token: plainToken({ sub: 'x' }) })).refusal?.data, { status: 403 })
  const kept = await attacked.subscribe(hub, { token: plainToken({ roles: ['keeper'] }) })
  const { text } = await attacked.post(hub.resource.route, { name: 'x', code: 'CODE' })
  await attacked.drain(hub, kept)
  t.deepEqual(eventPackets(kept), [`["OnCreated",${text}]`])
  t.like((await attacked.subscribe(hubNamed('unread'))).refusal?.data, { status: 401 })
  // Where there is neither, it is the list's as everywhere.
  t.like((await attacked.subscribe(hubNamed('written'))).refusal?.data, { status: 401 })
  const written = await attacked.subscribe(hubNamed('written'), { token: plainToken({ roles: ['keeper'] }) })
  t.is(written.refusal, null)
})

test('a flattened target with two resources of one name needs the consent of both', async (t) => {
  await attacked.sequelize.model('Club').bulkCreate([{ name: 'CLUB-1', tenantId: 1 }])
  const hub = hubNamed('member')
  const CALLERS: readonly (readonly [claims: object, sees: boolean])[] = [
    [{ tenant: 1 }, false],
    [{ roles: ['keeper'], tenant: 2 }, false],
    [{ roles: ['root'] }, false],
    [{ roles: ['keeper'], tenant: 1 }, true],
    [{ roles: ['keeper', 'root'] }, true],
  ]
  const subscribers = await Promise.all(
    CALLERS.map(([claims]) => attacked.subscribe(hub, { token: plainToken(claims) })),
  )
  const { body } = await attacked.post('/api/members', { name: 'x', clubId: 1 }, bearer({ tenant: 1 }))
  await attacked.drain(hub, subscribers[0] as Subscriber)
  for (const [index, [claims, sees]] of CALLERS.entries()) {
    const { text } = await attacked.get(`/api/members/${body.id}`, bearer(claims))
    t.is(text.includes('CLUB-1'), sees)
    t.deepEqual(eventPackets(subscribers[index] as Subscriber), [`["OnCreated",${text}]`], JSON.stringify(claims))
  }
})

test("a scope by what no answer shows goes by the record's own value, and the target's own scope by the target's", async (t) => {
  const { Depot } = attacked.sequelize.models as Record<string, ModelStatic<Model>>
  await Depot?.bulkCreate([
    { name: 'DEPOT-1', tenantId: 1 },
    { name: 'DEPOT-2', tenantId: 2 },
    { name: 'DEPOT-3', tenantId: 1, isDeleted: true },
    { name: 'DEPOT-4', tenantId: null },
  ])
  const hub = hubNamed('parcel')
  const at = '2024-02-29T12:00:00.001Z'
  const CALLERS = [
    { roles: ['root'] },
    { within: { tenantId: 1 }, depots: { tenantId: 1 } },
    { within: { tenantId: 1 }, depots: { tenantId: 2 } },
    { within: { tenantId: 2 }, depots: { tenantId: 2 } },
    { within: { tenantId: 2 }, depots: { tenantId: null } },
    { within: { tenantId: null }, depots: { tenantId: null } },
    { within: { tenantId: null }, depots: { tenantId: 1 } },
    { within: { at, tenantId: 1 }, depots: { tenantId: 1 } },
    { within: { at }, depots: { tenantId: 2 } },
    { within: { at: null }, depots: { tenantId: 1 } },
    { within: { depth: 2, tenantId: 1 }, depots: { tenantId: 2 } },
  ]
  const subscribers = await Promise.all(CALLERS.map((claims) => attacked.subscribe(hub, { token: plainToken(claims) })))
  const witness = subscribers[0] as Subscriber
  const expected: string[][] = CALLERS.map(() => [])
  const marker = (id: number): Record<string, unknown> => ({ id, tenantId: 0, at: null, depth: null })
  const shown = async (event: string, id: number): Promise<void> => {
    await attacked.drain(hub, witness, marker)
    for (const [index, claims] of CALLERS.entries()) {
      const { status, text } = await attacked.get(`/parcel/${id}`, bearer(claims))
      if (status === 200) expected[index]?.push(`["${event}",${event === 'OnDeleted' ? id : text}]`)
    }
  }
  const headers = bearer({ roles: ['root'] })
  for (const tenantId of [1, 2, null]) {
    for (const depotId of [1, 2, 3, 4]) {
      // No body can point at what is deleted.
      const pointed = depotId === 3 ? null : depotId
      const parcel = { name: `of ${tenantId}`, tenantId, depotId: pointed, at: depotId > 1 ? at : null, depth: depotId }
      const { body, status, text } = await attacked.post('/parcel', parcel, headers)
      t.is(status, 201, text)
      await shown('OnCreated', body.id)
      await attacked.sequelize.model('Parcel').update({ depotId }, { where: { id: body.id } })
      await attacked.patch(`/parcel/${body.id}`, { name: 'changed' }, headers)
      await shown('OnUpdated', body.id)
      // What it should tell of is asked for while it is there.
      await shown('OnDeleted', body.id)
      await attacked.delete(`/parcel/${body.id}`, headers)
    }
  }
  await attacked.drain(hub, witness, marker)
  for (const [index, claims] of CALLERS.entries()) {
    t.deepEqual(eventPackets(subscribers[index] as Subscriber), expected[index], JSON.stringify(claims))
  }
  t.is(expected[0]?.length, 36)
  t.is(new Set(expected.map((texts) => texts.join())).size, CALLERS.length)
})

test('who comes while a record is written, by a scope that nobody had before, is not told of what may be of others', async (t) => {
  const hub = hubNamed('crate')
  const headers = bearer({ roles: ['root'] })
  const witness = await attacked.subscribe(hub, { token: plainToken({ roles: ['root'] }) })
  let packed = (): void => undefined
  let reached = (): void => undefined
  const isPacking = new Promise<void>((resolve) => {
    reached = resolve
  })
  packing = () => {
    reached()
    return new Promise((resolve) => {
      packed = resolve
    })
  }
  const writing = attacked.post('/crate', { name: 'of one', tenantId: 1 }, headers)
  await isPacking
  const [one, none] = await Promise.all([
    attacked.subscribe(hub, { token: plainToken({ within: { tenantId: 1 } }) }),
    attacked.subscribe(hub, { token: plainToken({ within: { tenantId: null } }) }),
  ])
  packed()
  packing = () => undefined
  t.is((await writing).status, 201)
  await attacked.drain(hub, witness, mark)
  const { text } = await attacked.post('/crate', { name: 'of one too', tenantId: 1 }, headers)
  await attacked.drain(hub, witness, mark)
  t.is(witness.received.length, 2)
  t.deepEqual(eventPackets(one), [`["OnCreated",${text}]`])
  t.deepEqual(eventPackets(none), [])
})

test('a resource that is open itself shows of what it flattens what the masks of the target say', async (t) => {
  await attacked.sequelize.model('Label').create({ name: 'x', fee: 'FEE' })
  const hub = hubNamed('song')
  const [reader, holder] = await Promise.all([
    attacked.subscribe(hub),
    attacked.subscribe(hub, { token: plainToken({ permissions: ['payroll'] }) }),
  ])
  const { body } = await attacked.post('/api/songs', { name: 'x', labelId: 1 })
  await attacked.drain(hub, reader)
  for (const [subscriber, headers] of [
    [reader, {}],
    [holder, bearer({ permissions: ['payroll'] })],
  ] as const) {
    const { text } = await attacked.get(`/api/songs/${body.id}`, headers)
    t.is(/FEE/.test(text), subscriber === holder)
    t.deepEqual(eventPackets(subscriber), [`["OnCreated",${text}]`])
  }
})

for (const name of ['Draft', 'OrderedDraft', 'HookedDraft', 'SoftDraft']) {
  test(`${name}: what the model itself hides from every GET is told to nobody`, async (t) => {
    const hub = hubNamed(name)
    const { route, model } = hub.resource
    const reader = await attacked.subscribe(hub)
    await attacked.post(route, { name: 'DRAFT' })
    await attacked.post(`${route}/bulk`, [{ name: 'DRAFT' }, { name: 'shown', published: true }, { name: 'DRAFT' }])
    const { body } = await attacked.post(route, { name: 'public', published: true })
    // What is told is read anew, and hidden by then from here on.
    await attacked.drain(hub, reader)
    await attacked.patch(`${route}/${body.id}`, { name: 'DRAFT', published: false })
    const hidden = await model.create({ name: 'DRAFT' })
    hub.notify?.created(Number(hidden.get('id')))
    hub.notify?.updated(Number(hidden.get('id')))
    await attacked.drain(hub, reader)
    t.notRegex(reader.frames.join(), /DRAFT/)
    await model.unscoped().update({ published: true }, { where: { id: Number(hidden.get('id')) }, hooks: false })
    hub.notify?.updated(Number(hidden.get('id')))
    await attacked.drain(hub, reader)
    t.deepEqual(
      reader.received.map(([event, record]) => [event, (record as { name: string }).name]),
      [
        ['OnCreated', 'shown'],
        ['OnCreated', 'public'],
        ['OnUpdated', 'DRAFT'],
      ],
    )
  })
}

test('a scope chooses by value and type, whatever the value looks like', async (t) => {
  const hub = hubNamed('owned')
  const texts = [
    'a',
    'A',
    'a ',
    ' a',
    'ą',
    'a\u0328',
    '',
    'null',
    'a"],["b',
    '["a"]',
    '"a"',
    'a,b',
    '__proto__',
    'constructor',
    '😀',
    '\\',
  ]
  const SCOPES: readonly object[] = [
    ...[...texts, null].map((owner) => ({ owner })),
    ...[1, '1', 0, -1, null].map((number) => ({ number })),
    ...['9007199254740993', '9007199254740992', 9007199254740991, 1, null].map((big) => ({ big })),
    ...[1.5, '1.50', '1.5', 0, null].map((price) => ({ price })),
    ...['1.5', '123456.000001', 0].map((exact) => ({ exact })),
    ...[true, false, null].map((flag) => ({ flag })),
    ...['0b1c2d3e-0000-4000-8000-00000000000a', '0B1C2D3E-0000-4000-8000-00000000000A'].map((code) => ({ code })),
    ...['low', 'high', null].map((kind) => ({ kind })),
    ...['2024-02-29', null].map((day) => ({ day })),
    ...['2024-02-29T12:00:00.001Z', '2024-02-29T13:00:00.001+01:00', null].map((at) => ({ at })),
    ...['09:30:00', null].map((clock) => ({ clock })),
    ...['ab', 'abcde', null].map((letters) => ({ letters })),
    { owner: 'a', number: 1 },
    { number: 1, owner: 'a' },
    { number: 1, owner: 'A' },
    { owner: 'a', flag: null },
  ]
  const RECORDS: readonly object[] = [
    {},
    ...texts.map((owner) => ({ owner })),
    ...[1, 0, -1, 10].map((number) => ({ number })),
    ...['9007199254740993', '9007199254740992', 9007199254740991, 1].map((big) => ({ big })),
    ...[1.5, 0, 15].map((price) => ({ price })),
    ...['1.5', '123456.000001', '0'].map((exact) => ({ exact })),
    { flag: true },
    { flag: false },
    { code: '0b1c2d3e-0000-4000-8000-00000000000a' },
    { kind: 'low' },
    { kind: 'high' },
    { day: '2024-02-29' },
    { at: '2024-02-29T12:00:00.001Z' },
    { clock: '09:30:00' },
    { letters: 'ab' },
    { letters: 'abcde' },
    { owner: 'a', number: 1 },
    { owner: 'a', flag: true, number: 1 },
  ]
  const witness = await attacked.subscribe(hub, { token: plainToken({ roles: ['root'] }) })
  const subscribers = await Promise.all(
    SCOPES.map((within) => attacked.subscribe(hub, { token: plainToken({ within }) })),
  )
  for (const [index, { refusal }] of subscribers.entries()) t.is(refusal, null, JSON.stringify(SCOPES[index]))
  const { body } = await attacked.post('/api/owneds/bulk', RECORDS, bearer({ roles: ['root'] }))
  t.true(Array.isArray(body), JSON.stringify(body))
  const ids: number[] = body.map(({ id }: { id: number }) => id)
  const marker = (id: number): Record<string, unknown> => ({
    ...Object.fromEntries(Object.keys(Owned).map((name) => [name, null])),
    id,
  })
  const Owned = hub.resource.model.getAttributes()
  const listed = await Promise.all(
    SCOPES.map((within) => attacked.get('/api/owneds?pageSize=1000&sort=id', bearer({ within }))),
  )
  t.deepEqual((await attacked.post('/api/owneds/bulk-delete', ids, bearer({ roles: ['root'] }))).body, {
    deleted: ids.length,
  })
  await attacked.drain(hub, witness, marker)
  t.is(witness.received.length, 2 * ids.length)
  for (const [index, subscriber] of subscribers.entries()) {
    const items: readonly { readonly id: number }[] = listed[index]?.body.items
    t.deepEqual(
      eventPackets(subscriber),
      [
        ...items.map((item) => `["OnCreated",${JSON.stringify(item)}]`),
        ...items.map(({ id }) => `["OnDeleted",${id}]`),
      ],
      JSON.stringify(SCOPES[index]),
    )
  }
})

test('a payload that is read when it is told is not of a record that has left the scope by then', async (t) => {
  const hub = hubNamed('nomad')
  const headers = bearer({ roles: ['root'] })
  const [all, one, two] = await Promise.all([
    attacked.subscribe(hub, { token: plainToken({ roles: ['root'] }) }),
    attacked.subscribe(hub, { token: plainToken({ tenant: 1 }) }),
    attacked.subscribe(hub, { token: plainToken({ tenant: 2 }) }),
  ])
  const { body } = await attacked.post('/api/nomads', { name: 'born', tenantId: 1 }, headers)
  await attacked.drain(hub, all, mark)
  let go = (): void => undefined
  reading = new Promise((resolve) => {
    go = resolve
  })
  await attacked.patch(`/api/nomads/${body.id}`, { name: 'here' }, headers)
  await attacked.patch(`/api/nomads/${body.id}`, { name: 'SECRET OF TWO', tenantId: 2 }, headers)
  go()
  await attacked.drain(hub, all, mark)
  const born = ['OnCreated', { ...body, name: 'born' }]
  const gone = ['OnUpdated', { ...body, name: 'SECRET OF TWO', tenantId: 2 }]
  t.deepEqual(all.received, [born, gone, gone] as never)
  t.deepEqual(one.received, [born, ['OnDeleted', body.id]] as never)
  t.deepEqual(two.received, [gone] as never)
})

test('a scope for records without a document is told of none that has one, and nothing fails', async (t) => {
  const hub = hubNamed('folder')
  const [all, without] = await Promise.all([
    attacked.subscribe(hub, { token: plainToken({ roles: ['root'] }) }),
    attacked.subscribe(hub, { token: plainToken({ within: { meta: null }, tenant: 1 }) }),
  ])
  t.is(without.refusal, null)
  errors.length = 0
  const headers = bearer({ roles: ['root'] })
  const { body: bare } = await attacked.post('/api/folders', { name: 'bare' }, headers)
  for (const meta of [{ secret: 'SECRET' }, ['SECRET'], {}]) {
    t.is((await attacked.post('/api/folders', { name: 'full', meta }, headers)).status, 201)
  }
  await attacked.drain(hub, all, (id) => ({ id, meta: null }))
  t.is(all.received.length, 4)
  t.deepEqual(without.received, [['OnCreated', bare]])
  t.notRegex(without.frames.join(), /SECRET/)
  t.deepEqual(errors, [])
})

test('a scope over an attribute whose getter changes what is stored lets nobody connect', async (t) => {
  errors.length = 0
  const { refusal } = await attacked.subscribe(hubNamed('veiled'), { token: plainToken({ within: { owner: 'a' } }) })
  t.like(refusal?.data, { status: 500 })
  t.regex(String(errors), /owner/)
  t.is((await attacked.subscribe(hubNamed('veiled'), { token: plainToken({ roles: ['root'] }) })).refusal, null)
})

test('a scope by a decimal that is rounded lets those connect alone whose value no other is rounded to', async (t) => {
  errors.length = 0
  const refusalOf = async (within: object, hub = 'long'): Promise<unknown> =>
    (await attacked.subscribe(hubNamed(hub), { token: plainToken({ within }) })).refusal
  for (const owner of ['90071992547409.93', '-100000000000000', '123456789012345678']) {
    t.like(await refusalOf({ owner }), { data: { status: 500 } }, owner)
    // What is flattened would be chosen by it as well.
    t.like(await refusalOf({ owner }, 'longer'), { data: { status: 500 } }, owner)
    // As text it has all its digits, but for SQLite, whose driver knows numbers only.
    const isRounded = attacked.sequelize.getDialect() === 'sqlite'
    const refusal = await refusalOf({ short: owner })
    if (isRounded) t.like(refusal, { data: { status: 500 } }, owner)
    else t.is(refusal, null, owner)
  }
  t.regex(String(errors), /"owner": DECIMAL values of more than 15 digits would be rounded/)
  for (const owner of ['9007199254740.93', '-1234567890123', '0.01']) {
    for (const hub of ['long', 'longer']) t.is(await refusalOf({ owner }, hub), null, owner)
  }
})

test('of two resources over one table each tells of its own writes, by its own masks', async (t) => {
  const masked = hubNamed('masked')
  const [keeper, reader, holder, namesake] = await Promise.all([
    attacked.subscribe(hubNamed('bare'), { token: plainToken({ roles: ['keeper'] }) }),
    attacked.subscribe(masked),
    attacked.subscribe(masked, { token: plainToken({ permissions: ['__proto__'] }) }),
    attacked.subscribe(masked, { token: plainToken({ permissions: ['constructor', 'toString'] }) }),
  ])
  t.like((await attacked.subscribe(hubNamed('bare'))).refusal?.data, { status: 401 })
  const { body: one } = await attacked.post('/bare', { name: 'a', salary: 'SALARY' })
  const { body: two } = await attacked.post('/masked', { name: 'b', salary: 'SALARY' })
  await attacked.drain(hubNamed('bare'), keeper)
  await attacked.drain(masked, reader)
  t.deepEqual(keeper.received, [['OnCreated', { id: one.id, name: 'a', salary: 'SALARY' }]])
  t.deepEqual(holder.received, [['OnCreated', { id: two.id, name: 'b', salary: 'SALARY' }]])
  for (const { received, frames } of [reader, namesake]) {
    t.deepEqual(received, [['OnCreated', { id: two.id, name: 'b', salary: null }]])
    t.notRegex(frames.join(), /SALARY/)
  }
})

test('a guard that is mounted later holds for those who are connected already', async (t) => {
  const { Guild } = attacked.sequelize.models as Record<string, ModelStatic<Model>>
  await Guild?.create({ name: 'GUILD' })
  const hub = hubNamed('bard')
  const reader = await attacked.subscribe(hub)
  const { body } = await attacked.post('/api/bards', { name: 'x', guildId: 1 })
  await attacked.drain(hub, reader)
  t.like(reader.received.at(-1)?.[1], { guildName: 'GUILD' })
  attacked.app.use(
    crudRouter(Guild as ModelStatic<Model>, {
      ...common,
      operations: Operations.All,
      authorizePolicy: hasRole('keeper'),
    }),
  )
  await attacked.patch(`/api/bards/${body.id}`, { name: 'y' })
  const keeper = await attacked.subscribe(hub, { token: plainToken({ roles: ['keeper'] }) })
  await attacked.patch(`/api/bards/${body.id}`, { name: 'z' })
  await attacked.drain(hub, reader)
  const { text } = await attacked.get(`/api/bards/${body.id}`)
  t.regex(text, /"guildName":null/)
  t.is(eventPackets(reader).at(-1), `["OnUpdated",${text}]`)
  t.deepEqual(
    reader.received.slice(1).map(([, record]) => (record as { guildName: unknown }).guildName),
    [null, null],
  )
  t.like(keeper.received.at(-1)?.[1], { guildName: 'GUILD', name: 'z' })
})

test('values that nest deeply, or look like what Socket.IO itself sends, are data', async (t) => {
  const hub = hubNamed('bard')
  const reader = await attacked.subscribe(hub)
  const docs = [
    { _placeholder: true, num: 0 },
    [{ _placeholder: true, num: 99 }],
    { toJSON: 'x', constructor: null, length: -1 },
    JSON.parse('{"__proto__": {"x": 1}, "length": 5}'),
    JSON.parse(`${'['.repeat(30)}1${']'.repeat(30)}`),
    'OnDeleted',
  ]
  const expected: string[] = []
  for (const doc of docs) {
    const { body, text, status } = await attacked.post('/api/bards', { name: 'x', doc })
    t.is(status, 201, text)
    expected.push(`["OnCreated",${(await attacked.get(`/api/bards/${body.id}`)).text}]`)
  }
  const bottomless = `{"name":"x","doc":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  await attacked.send('POST', '/api/bards', { body: bottomless, headers: { 'content-type': 'application/json' } })
  await attacked.drain(hub, reader)
  t.deepEqual(eventPackets(reader).slice(0, expected.length), expected)
})

test("what the host tells of is held against scope, mask and mark like a write, and a delete needs the record's scope", async (t) => {
  const hub = hubNamed('ghost')
  const { model } = hub.resource
  const [root, one, two] = await Promise.all([
    attacked.subscribe(hub, { token: plainToken({ roles: ['root'] }) }),
    attacked.subscribe(hub, { token: plainToken({ tenant: 1 }) }),
    attacked.subscribe(hub, { token: plainToken({ tenant: 2 }) }),
  ])
  const ghost = await model.create({ name: 'x', tenantId: 1 })
  const id = Number(ghost.get('id'))
  hub.notify?.created(id)
  await attacked.drain(hub, root, mark)
  await ghost.update({ isDeleted: true })
  hub.notify?.updated(id)
  for (const key of [id, String(id)]) t.throws(() => hub.notify?.deleted(key), { instanceOf: TypeError })
  t.throws(() => hub.notify?.deleted({ id }), { instanceOf: TypeError, message: /tenantId/ })
  hub.notify?.deleted(ghost as never)
  hub.notify?.deleted({ id: 7, tenantId: 2 })
  await attacked.drain(hub, root, mark)
  const created = `["OnCreated",{"id":${id},"name":"x","tenantId":1}]`
  t.deepEqual(eventPackets(root), [created, `["OnDeleted",${id}]`, '["OnDeleted",7]'])
  t.deepEqual(eventPackets(one), [created, `["OnDeleted",${id}]`])
  t.deepEqual(eventPackets(two), ['["OnDeleted",7]'])
})
