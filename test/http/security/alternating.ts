// Callers of two tenants who take turns with one and the same request: statements are kept by their shape, which is the same for both,
// and no row of one is in an answer to the other.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter, Operations, type Scope } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const test = ava.serial

const TENANTS = ['one', 'two'] as const
type Tenant = (typeof TENANTS)[number]
const EACH = 6

/** Scopes whose values have different types; the last one has a shape of its own for each tenant. */
const SCOPES: Readonly<Record<string, (tenant: Tenant) => Scope>> = {
  text: (tenant) => ({ tenant }),
  number: (tenant) => ({ owner: ownerOf(tenant) }),
  flag: (tenant) => ({ first: tenant === 'one' }),
  both: (tenant) => ({ tenant, owner: ownerOf(tenant) }),
  missing: (tenant) => ({ second: tenant === 'one' ? null : 1 }),
}

const ownerOf = (tenant: Tenant): number => TENANTS.indexOf(tenant) + 1

const isTenant = (name: unknown): name is Tenant => TENANTS.some((tenant) => tenant === name)

const ownedBy = (tenant: Tenant): object => ({
  ...{ tenant, owner: ownerOf(tenant), first: tenant === 'one' },
  second: tenant === 'one' ? null : 1,
})

const OWNED = {
  tenant: DataTypes.STRING(10),
  owner: DataTypes.INTEGER,
  first: DataTypes.BOOLEAN,
  second: DataTypes.INTEGER,
}

const stage = await openStage(({ sequelize }, app) => {
  for (const [name, scope] of Object.entries(SCOPES)) {
    const options: CrudOptions = {
      identity: identityFromHeader,
      scope: ({ identity }) => {
        if (!isTenant(identity?.name)) throw new TypeError('nobody else asks')
        return scope(identity.name)
      },
      operations:
        Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace | Operations.Aggregate | Operations.Export,
    }
    const define = (kind: string, attributes: object) =>
      sequelize.define(
        `${name}${kind}`,
        { name: DataTypes.STRING(20), ...OWNED, ...attributes },
        { timestamps: false, name: { singular: `${name}${kind}`, plural: `${name}${kind}s` } },
      )
    const Team = define('team', {})
    const Player = define('player', { level: DataTypes.INTEGER })
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    const players = crudRouter(Player, options)
    app.use(players)
    app.use(crudRouter(Team, { ...options, relations: { players: { routes: true, resource: () => players } } }))
  }
})

/** Every text of a row is its tenant's name and a number, so that a foreign row is seen in any answer. */
for (const name of Object.keys(SCOPES)) {
  const { [`${name}team`]: Team, [`${name}player`]: Player } = stage.sequelize.models
  for (const tenant of TENANTS) {
    const team = await Team?.create({ name: `${tenant}-team`, ...ownedBy(tenant) })
    await Player?.bulkCreate(
      Array.from({ length: EACH }, (_, index) => ({
        ...{ name: `${tenant}-${index}`, level: index, ...ownedBy(tenant) },
        teamId: team?.get('id'),
      })),
    )
  }
}

ava.after.always(() => stage.close())

const other = (tenant: Tenant): Tenant => (tenant === 'one' ? 'two' : 'one')

for (const name of Object.keys(SCOPES)) {
  const teams = `/api/${name}teams`
  const players = `/api/${name}players`

  /** The key of the first team of a tenant: the teams were made in the order of the tenants. */
  const teamOf = (tenant: Tenant): number => TENANTS.indexOf(tenant) + 1
  /** The key of a player. */
  const playerOf = (tenant: Tenant, index = 0): number => TENANTS.indexOf(tenant) * EACH + index + 1

  const READS: Readonly<Record<string, (tenant: Tenant) => string>> = {
    list: () => players,
    page: () => `${players}?sort=-level&pageSize=2&page=2`,
    filter: () => `${players}?filter=level>=3&sort=name`,
    seek: () => `${players}?after=&pageSize=3&sort=level`,
    joined: () => `${players}?filter=team.name^o|team.name^t&select=name,team.name&sort=team.name,id`,
    quantified: () => `${teams}?filter=players.Any(level=2)`,
    counted: () => `${teams}?select=name,players.count&filter=players.count>0`,
    embedded: () => `${teams}?select=name,players(name)`,
    number: () => `${players}?count=true`,
    groups: () => `${players}?group=name&aggregate=count,max(level)`,
    file: () => `${players}?format=csv`,
    record: (tenant) => `${players}/${playerOf(tenant)}`,
    nested: (tenant) => `${teams}/${teamOf(tenant)}/players`,
  }

  for (const [what, pathFor] of Object.entries(READS)) {
    test(`${name}, ${what}: tenants that take turns, or come at once, read their own rows`, async (t) => {
      const read = async (tenant: Tenant): Promise<Answer> => {
        const answer = await stage.get(pathFor(tenant), asUser(tenant))
        t.is(answer.status, 200, answer.text)
        t.false(answer.text.includes(`${other(tenant)}-`), answer.text)
        if (what === 'number') t.is(answer.body.count, EACH)
        else t.true(answer.text.includes(`${tenant}-`), answer.text)
        return answer
      }
      const [first, second] = [await read('one'), await read('two')]
      // More often than a server needs to give a statement a name, and to plan it for any value.
      for (let turn = 0; turn < 6; turn += 1) {
        t.is((await read('one')).text, first.text)
        t.is((await read('two')).text, second.text)
      }
      const texts = await Promise.all(Array.from({ length: 12 }, (_, index) => read(TENANTS[index % 2] ?? 'one')))
      for (const [index, { text }] of texts.entries()) t.is(text, (index % 2 === 0 ? first : second).text)
    })
  }

  test(`${name}: tenants that take turns write to their own rows alone`, async (t) => {
    const rowsOf = async (): Promise<unknown> =>
      stage.sequelize.model(`${name}player`).findAll({ order: ['id'], raw: true, attributes: ['id', 'level', 'name'] })
    for (let turn = 0; turn < 5; turn += 1) {
      for (const tenant of TENANTS) {
        const [own, foreign] = [playerOf(tenant, 5), playerOf(other(tenant), 5)]
        const change = { level: 100 + turn }
        const before = await rowsOf()
        for (const refused of [
          await stage.patch(`${players}/${foreign}`, change, asUser(tenant)),
          await stage.delete(`${players}/${foreign}`, asUser(tenant)),
          await stage.patch(`${players}/bulk`, [{ id: foreign, ...change }], asUser(tenant)),
          await stage.get(`${players}/${foreign}`, asUser(tenant)),
          await stage.get(`${teams}/${teamOf(other(tenant))}/players`, asUser(tenant)),
        ]) {
          t.is(refused.status, 404, refused.text)
          t.false(refused.text.includes(`${other(tenant)}-`), refused.text)
        }
        t.deepEqual(await rowsOf(), before)
        const patched = await stage.patch(`${players}/${own}`, change, asUser(tenant))
        t.like(patched.body, { id: own, ...change })
      }
    }
  })
}
