// Checked by the compiler, together with everything else: what a client knows of a resource by the type of its router.

import { expectTypeOf } from 'expect-type'
import Joi from 'joi'
import {
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type ModelStatic,
  type NonAttribute,
  type Transaction,
} from 'sequelize'
import { resource as actingResource, singleton } from '../../lib/client/actions.js'
import { etagOf, resource, withTag } from '../../lib/client/index.js'
import {
  createCrud,
  crudRouter,
  type GroupPage,
  type KeysetPage,
  Operations,
  type ScopeFunction,
  type UpsertResult,
} from '../../lib/index.js'

class Team extends Model<InferAttributes<Team>, InferCreationAttributes<Team>> {
  declare id: CreationOptional<number>
  declare name: string
  declare players?: NonAttribute<Player[]>
}

class Player extends Model<InferAttributes<Player>, InferCreationAttributes<Player>> {
  declare id: CreationOptional<number>
  declare full_name: string
  declare level: CreationOptional<number>
  declare salary: CreationOptional<string | null>
  declare team?: NonAttribute<Team | null>
}

declare const places: {
  readonly best: { readonly on: 'collection'; readonly method: 'get' }
  readonly rest: { readonly on: 'collection'; readonly method: 'post' }
  readonly rank: { readonly on: 'record'; readonly method: 'get' }
}

/** Never called: what is compiled is what counts. */
export async function checked(
  Code: ModelStatic<Model<{ code: string; text: string | null }>>,
  shared: ScopeFunction,
  untyped: ModelStatic<Model>,
): Promise<void> {
  const players = crudRouter(Player, {
    operations: Operations.AllWithBulk,
    fields: { salary: { decimal: 'number' } },
    mask: { level: 'scout' },
  })
  const api = resource<typeof players>('/api/players')
  const page = await api.list({ sort: ['-level', 'fullName'], page: 2 })
  expectTypeOf(page.items[0]).toEqualTypeOf<
    { id: number; fullName: string; level: number | null; salary: number | null } | undefined
  >()
  expectTypeOf(page.totalCount).toEqualTypeOf<number | null>()
  const keyset = await api.list({ after: page.items[0] ? 'a token' : '', sort: 'fullName' })
  expectTypeOf(keyset.previousCursor).toEqualTypeOf<string | null>()
  expectTypeOf(keyset.items[0]?.fullName).toEqualTypeOf<string | undefined>()
  expectTypeOf((await api.list({ before: '' })).nextCursor).toEqualTypeOf<string | null>()
  expectTypeOf((await api.list({ cursor: '' })).nextCursor).toEqualTypeOf<string | null>()
  // @ts-expect-error: the total is not counted for pages by `after`
  keyset.totalCount
  const made = await api.create({ fullName: 'Ewa' })
  expectTypeOf(made.fullName).toEqualTypeOf<string>()
  await api.update(made, { salary: 5 })
  await api.update(7, { level: 5 })
  expectTypeOf(await api.bulkDelete([1])).toEqualTypeOf<{ readonly deleted: number }>()
  const [selected] = (await api.list({ select: 'fullName,team.name' })).items
  expectTypeOf(selected?.fullName).toEqualTypeOf<string | undefined>()
  expectTypeOf(selected?.team?.name).toEqualTypeOf<string | undefined>()
  api.live({ onCreated: (player) => expectTypeOf(player.fullName).toEqualTypeOf<string>() })

  // @ts-expect-error: null would be sent as a text
  await api.list({ email: null })
  // @ts-expect-error: a member of the body that there is not
  await api.create({ fullName: 'Ewa', levle: 3 })
  // @ts-expect-error: the name is required
  await api.create({ level: 3 })
  // @ts-expect-error: a text is no level
  await api.update(1, { level: 'high' })
  // @ts-expect-error: there is no such member
  made.full_name
  // @ts-expect-error: the operation is off
  api.restore
  // @ts-expect-error: there is no such option
  resource<typeof players>('/api/players', { tokn: () => null })

  const read = crudRouter(Team, { operations: ['getList', 'getById'] })
  const teams = resource<typeof read>('/api/teams')
  const [team] = (await teams.list({ select: ['name', 'players.fullName'] })).items
  expectTypeOf(team?.players?.[0]?.fullName).toEqualTypeOf<string | undefined>()
  await teams.get(1)
  // @ts-expect-error: the operation is off
  teams.create

  // A key that is not `id`, and versions, must be said: nothing of the router is there when the client runs.
  const keyed = crudRouter(Code, { keyProperty: 'code', concurrency: true })
  // @ts-expect-error: the key and the versions are missing
  resource<typeof keyed>('/api/codes')
  // @ts-expect-error: the versions are missing
  resource<typeof keyed>('/api/codes', { key: 'code' })
  const codes = resource<typeof keyed>('/api/codes', { key: 'code', versions: true })
  await codes.update('a', { text: null })

  // Where the options do not name the key, and there is no `id`, the client names any member.
  const unsaid = crudRouter(Code, { operations: ['replace', 'update', 'bulkUpdate', 'create'] })
  // @ts-expect-error: the key is missing
  resource<typeof unsaid>('/api/codes')
  // @ts-expect-error: a key that is no member
  resource<typeof unsaid>('/api/codes', { key: 'cod' })
  const byCode = resource<typeof unsaid>('/api/codes', { key: 'code' })
  await byCode.replace('a', { text: 'b' })
  await byCode.bulkUpdate([{ code: 'a', text: null }])
  // @ts-expect-error: a text is no number
  await byCode.replace('a', { text: 5 })
  // @ts-expect-error: a new record needs its key
  await byCode.create({ text: 'b' })

  // A replacement need not repeat the key, and may.
  const replacing = crudRouter(Code, { operations: ['replace', 'create'], keyProperty: 'code' })
  const replaced = resource<typeof replacing>('/api/codes', { key: 'code' })
  await replaced.replace('a', { text: 'b' })
  await replaced.replace('a', { code: 'a', text: 'b' })
  // @ts-expect-error: a text is no number
  await replaced.replace('a', { text: 5 })
  // @ts-expect-error: a new record needs its key
  await replaced.create({ text: 'b' })

  const account = crudRouter(Team, { singleton: () => 1, operations: ['getById', 'create', 'replace'] })
  const own = singleton<typeof account>('/api/account')
  await own.replace(null, { name: 'Heat' })
  // @ts-expect-error: a replacement has what a new record needs
  await own.replace(null, {})

  // A copy has the tag of its original, where that has one.
  expectTypeOf(withTag({ ...made }, etagOf(made)).fullName).toEqualTypeOf<string>()

  interface Row {
    id: number
    name: string
  }
  const plain = resource<Row>('/api/rows')
  await plain.list({}, { signal: undefined })
  expectTypeOf((await plain.get(1)).name).toEqualTypeOf<string>()
  await plain.aggregate({ aggregate: 'count' })

  // The interface of a row without `id` does not say which member is the key, so that the client may say it.
  interface Coded {
    code: string
    text: string | null
  }
  resource<Coded>('/api/codes')
  // @ts-expect-error: a key that is no member
  resource<Coded>('/api/codes', { key: 'cod' })
  const coded = resource<Coded>('/api/codes', { key: 'code' })
  expectTypeOf((await coded.get('a')).text).toEqualTypeOf<string | null>()
  await coded.bulkUpdate([{ code: 'a', text: null }])
  resource<Coded>('/api/codes', { key: ['code', 'text'] })
  // @ts-expect-error: a row with `id` has this key
  resource<Row>('/api/rows', { key: 'name' })

  interface Written {
    row: Row
    item: Pick<Row, 'id'>
    create: Omit<Row, 'id'>
    patch: Partial<Omit<Row, 'id'>>
    key: 'id'
    operations: 'getList' | 'create'
  }
  const written = resource<Written>('/api/rows')
  expectTypeOf((await written.list()).items[0]).toEqualTypeOf<Pick<Row, 'id'> | undefined>()
  // @ts-expect-error: the operation is off
  written.delete

  const several = crudRouter(Player, {
    operations: ['bulkUpdate', 'replace', 'create', 'update', 'getList', 'aggregate'],
    keyProperty: ['id', 'full_name'],
    concurrency: { rowVersion: 'edit_count' },
  })
  const many = resource<typeof several>('/api/players', { key: ['id', 'fullName'], versions: true })
  await many.bulkUpdate([{ id: 1, fullName: 'Ewa', level: 3, editCount: 2 }])
  // @ts-expect-error: an item says which record it changes
  await many.bulkUpdate([{ id: 1, level: 3 }])
  // @ts-expect-error: a member that there is not
  await many.bulkUpdate([{ id: 1, fullName: 'Ewa', levle: 3 }])
  expectTypeOf(await many.upsert([{ fullName: 'Ewa' }, { level: 2 }], ['fullName'])).toEqualTypeOf<UpsertResult>()
  // @ts-expect-error: a text is no level
  await many.upsert([{ level: 'high' }], 'fullName')
  for await (const keyset of many.pages()) expectTypeOf(keyset).toExtend<KeysetPage<object>>()
  const groups = await many.aggregate({ aggregate: ['count', 'avg(level)'], group: ['team.name'], having: 'count>1' })
  expectTypeOf(groups).toEqualTypeOf<GroupPage>()
  expectTypeOf(groups.items[0]?.count).toEqualTypeOf<number | undefined>()
  // @ts-expect-error: the operation is off
  many.bulkCreate

  // Upsert comes with replace, and alone where it alone is named.
  const upserted = crudRouter(Player, { operations: ['upsert'] })
  const upserts = resource<typeof upserted>('/api/players')
  await upserts.upsert([{ fullName: 'Ewa' }], 'fullName')
  // @ts-expect-error: the operation is off
  upserts.replace

  // What bodies hold of others.
  const holding = crudRouter(Team, { relations: { players: { write: true } } })
  const holders = resource<typeof holding>('/api/teams')
  await holders.create({ name: 'Nets', players: [{ fullName: 'Ewa', level: 1 }] })
  await holders.update(1, { players: [{ id: 3, fullName: 'Jan', rowVersion: 2 }, { id: 4 }] })
  // @ts-expect-error: a text is no level
  await holders.create({ name: 'Nets', players: [{ level: 'high' }] })
  // @ts-expect-error: a collection cannot be null
  await holders.update(1, { players: null })
  const apart = crudRouter(Team)
  const alone = resource<typeof apart>('/api/teams')
  await alone.update(1, { name: 'Nets' })
  // @ts-expect-error: nothing said that bodies hold them
  await alone.update(1, { players: [] })
  const held = crudRouter(Player, { relations: { team: { write: true } } })
  await resource<typeof held>('/api/players').update(1, { team: null })

  // A scope that several models share tells nothing of the model.
  const scoped = crudRouter(Team, { scope: shared })
  const within = resource<typeof scoped>('/api/teams')
  expectTypeOf((await within.create({ name: 'Nets' })).name).toEqualTypeOf<string>()
  // @ts-expect-error: a member of the body that there is not
  await within.create({ nmae: 'Nets' })

  // Groups of a selection, and what stands beside collections.
  const [grouped] = (await holders.list({ select: ['name', 'players(fullName)', 'players.count'] })).items
  expectTypeOf(grouped?.players?.[0]?.fullName).toEqualTypeOf<string | undefined>()
  expectTypeOf(grouped?.['players@more']).toEqualTypeOf<true | undefined>()
  expectTypeOf(grouped?.playersCount).toEqualTypeOf<number | undefined>()

  // Actions: what they take and answer, as far as the schemas say it.
  const acting = crudRouter(Player, {
    actions: {
      promote: {
        on: 'record',
        method: 'post',
        input: Joi.object<{ by: number }>(),
        handler: ({ record, input, transaction }) => {
          expectTypeOf(record).toEqualTypeOf<Player>()
          expectTypeOf(input).toEqualTypeOf<unknown>()
          expectTypeOf(transaction).toEqualTypeOf<Transaction | null>()
        },
      },
      best: {
        on: 'collection',
        method: 'get',
        input: Joi.object(),
        handler: ({ record }) => expectTypeOf(record).toBeNull(),
      },
      rest: { on: 'collection', method: 'post', handler: () => undefined },
      rank: { on: 'record', method: 'get', output: Joi.object<{ rank: number }>(), handler: () => 1 },
    },
  })
  const actor = actingResource<typeof acting>('/api/players', {
    actions: {
      promote: { on: 'record', method: 'post' },
      best: { on: 'collection', method: 'get' },
      rest: { on: 'collection', method: 'post' },
      rank: { on: 'record', method: 'get' },
    },
  })
  expectTypeOf((await actor.actions.promote(1, { by: 2 })).fullName).toEqualTypeOf<string>()
  expectTypeOf((await actor.actions.best({ level: 3 })).items[0]?.fullName).toEqualTypeOf<string | undefined>()
  expectTypeOf(await actor.actions.rest()).toEqualTypeOf<undefined>()
  expectTypeOf(await actor.actions.rank(1)).toEqualTypeOf<{ rank: number }>()
  // @ts-expect-error: the input is missing
  await actor.actions.promote(1)
  // @ts-expect-error: a text is no number
  await actor.actions.promote(1, { by: 'x' })
  // @ts-expect-error: an action that there is not
  actor.actions.promot
  // @ts-expect-error: the options say where the actions are
  actingResource<typeof acting>('/api/players', {})
  actingResource<typeof acting>('/api/players', {
    // @ts-expect-error: the action is one of records
    actions: { ...places, promote: { on: 'collection', method: 'post' } },
  })
  // Bodies that the host makes are open, whether the option is the resource's own or a default.
  const formatted = crudRouter(Player, {
    format: () => null,
    actions: { best: { on: 'collection', method: 'get', handler: () => [] } },
  })
  const byDefault = createCrud({ format: () => null }).crudRouter(Player)
  const maker = actingResource<typeof formatted>('/api/players', {
    actions: { best: { on: 'collection', method: 'get' } },
  })
  expectTypeOf(await maker.get(1)).toEqualTypeOf<Readonly<Record<string, unknown>>>()
  expectTypeOf(await maker.actions.best()).toEqualTypeOf<unknown>()
  expectTypeOf(await resource<typeof byDefault>('/api/players').get(1)).toEqualTypeOf<
    Readonly<Record<string, unknown>>
  >()
  // @ts-expect-error: a router without actions has none
  alone.actions
  const open = crudRouter(untyped, { concurrency: true })
  const api2 = resource<typeof open>('/api/houses', { key: 'slug', versions: true })
  resource<typeof open>('/api/houses', { versions: true })
  const house = await api2.create({ displayName: 'Lake' })
  await api2.update(house, { alarmMode: 'off' })
  expectTypeOf(house.displayName).toBeAny()
}
