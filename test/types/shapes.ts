// Checked by the compiler, together with everything else: a shape that drifts from what is expected does not compile.

import { expectTypeOf } from 'expect-type'
import { type CreationOptional, type InferAttributes, type InferCreationAttributes, Model } from 'sequelize'
import type { Socket } from 'socket.io-client'
import type { CreateOf, CrudOptions, EventsOf, ListItemOf, PatchOf, RowOf } from '../../lib/index.js'

class Player extends Model<InferAttributes<Player>, InferCreationAttributes<Player>> {
  declare id: CreationOptional<number>
  declare name: string
  declare level: CreationOptional<number>
  declare email: string | null
  declare first_team: number | null
  declare salary: string | null
  declare photo: CreationOptional<Buffer | null>
  declare createdAt: CreationOptional<Date>
}

expectTypeOf<RowOf<typeof Player>>().toEqualTypeOf<{
  id: number
  name: string
  level: number
  email: string | null
  firstTeam: number | null
  salary: string | null
  photo: string | null
  createdAt: string
}>()

const options = {
  fields: {
    createdAt: { exclude: true },
    photo: { exclude: ['list', 'query'] },
    email: { only: ['create', 'response'] },
    salary: { decimal: 'number', exclude: 'update' },
  },
  mask: { level: 'scout' },
} as const satisfies CrudOptions<Player>

expectTypeOf<RowOf<typeof Player, typeof options>>().toEqualTypeOf<{
  id: number
  name: string
  level: number | null
  email: string | null
  firstTeam: number | null
  salary: number | null
  photo: string | null
}>()

// A version that answers show is in them, declared or not.
const versioned = { ...options, concurrency: { inBody: true, rowVersion: 'edit_count' } } as const
expectTypeOf<RowOf<typeof Player, typeof versioned>['editCount']>().toEqualTypeOf<number>()
expectTypeOf<ListItemOf<typeof Player, { concurrency: { inBody: true } }>['rowVersion']>().toEqualTypeOf<number>()
expectTypeOf<RowOf<typeof Player, { concurrency: { inBody: false } }>>().toEqualTypeOf<RowOf<typeof Player>>()

expectTypeOf<ListItemOf<typeof Player, typeof options>>().toEqualTypeOf<{
  id: number
  name: string
  level: number | null
  firstTeam: number | null
  salary: number | null
}>()

expectTypeOf<CreateOf<typeof Player, typeof options>>().toEqualTypeOf<{
  name: string
  level?: number
  email?: string | null
  firstTeam?: number | null
  salary?: number | null
  photo?: string | null
}>()

expectTypeOf<PatchOf<typeof Player, typeof options>>().toEqualTypeOf<{
  name?: string
  level?: number
  firstTeam?: number | null
  photo?: string | null
}>()

expectTypeOf<EventsOf<typeof Player>['OnDeleted']>().toEqualTypeOf<(key: number) => void>()
const inBody = { concurrency: { inBody: true } } as const
expectTypeOf<EventsOf<typeof Player, typeof inBody>['OnDeleted']>().toEqualTypeOf<
  (key: number, version?: number) => void
>()
expectTypeOf<Parameters<EventsOf<typeof Player, typeof options>['OnUpdated']>[0]>().toEqualTypeOf<
  RowOf<typeof Player, typeof options>
>()

// As README says it of a client.
export function follow(socket: Socket<EventsOf<typeof Player>>): void {
  socket.on('OnMissed', () => undefined)
  socket.on('OnCreated', ({ name }) => expectTypeOf(name).toEqualTypeOf<string>())
  // @ts-expect-error: there is no such event
  socket.on('OnChanged', () => undefined)
}

class Country extends Model<InferAttributes<Country>, InferCreationAttributes<Country>> {
  declare code: string
  declare name: string
}

const byCode = { keyProperty: 'code' } as const

expectTypeOf<CreateOf<typeof Country, typeof byCode>>().toEqualTypeOf<{ code: string; name: string }>()

// What hooks or the database fill need not be in a body.
const filled = { keyProperty: 'code', fields: { name: { rules: { required: false } } } } as const
expectTypeOf<CreateOf<typeof Country, typeof filled>>().toEqualTypeOf<{ code: string; name?: string }>()
expectTypeOf<PatchOf<typeof Country, typeof byCode>>().toEqualTypeOf<{ name?: string }>()
expectTypeOf<EventsOf<typeof Country, typeof byCode>['OnDeleted']>().toEqualTypeOf<(key: string) => void>()

// Names by `naming`, and names that options give.
const snake = { naming: 'attribute', fields: { email: { name: 'e_mail' } } } as const
expectTypeOf<RowOf<typeof Player, typeof snake>>().toEqualTypeOf<{
  id: number
  name: string
  level: number
  e_mail: string | null
  first_team: number | null
  salary: string | null
  photo: string | null
  createdAt: string
}>()
expectTypeOf<keyof CreateOf<typeof Player, typeof snake>>().toEqualTypeOf<
  'name' | 'level' | 'e_mail' | 'first_team' | 'salary' | 'photo'
>()
const renamed = {
  fields: { first_team: { name: 'team' } },
  concurrency: { inBody: true, rowVersion: 'edit_count' },
} as const
expectTypeOf<PatchOf<typeof Player, typeof renamed>['team']>().toEqualTypeOf<number | null | undefined>()
expectTypeOf<RowOf<typeof Player, typeof renamed>['editCount']>().toEqualTypeOf<number>()
expectTypeOf<
  RowOf<typeof Player, { naming: 'attribute'; concurrency: typeof renamed.concurrency }>['edit_count']
>().toEqualTypeOf<number>()
// A function may make any name.
expectTypeOf<keyof RowOf<typeof Player, { naming: (name: string) => string }>>().toEqualTypeOf<string | number>()
const held = {
  naming: 'attribute',
  relations: { old_notes: { write: true, name: 'notes' }, new_notes: { write: true } },
} as const
expectTypeOf<CreateOf<typeof Country, typeof held & typeof byCode>>().toEqualTypeOf<{
  code: string
  name: string
  notes?: object
  new_notes?: object
}>()

// Computed fields are in replies and lists, by their types, and what differs by caller is in no push.
const computing = {
  fields: { rank_now: { exclude: 'list' }, mood: { name: 'feeling' } },
  mask: { secret: 'scout' },
  computed: {
    rank_now: { type: 'integer', resolve: () => [] },
    mood: { type: 'string', nullable: true, resolve: () => [] },
    tags: { type: 'array', perCaller: true, resolve: () => [] },
    secret: { type: 'boolean', resolve: () => [] },
  },
} as const
expectTypeOf<Omit<RowOf<typeof Player, typeof computing>, keyof RowOf<typeof Player>>>().toEqualTypeOf<{
  rankNow: number
  feeling: string | null
  tags: readonly string[]
  secret: boolean | null
}>()
expectTypeOf<Omit<ListItemOf<typeof Player, typeof computing>, keyof RowOf<typeof Player>>>().toEqualTypeOf<{
  feeling: string | null
  tags: readonly string[]
  secret: boolean | null
}>()
expectTypeOf<CreateOf<typeof Player, typeof computing>>().toEqualTypeOf<CreateOf<typeof Player>>()
type PushedWith = Parameters<EventsOf<typeof Player, typeof computing>['OnCreated']>[0]
expectTypeOf<keyof PushedWith>().toEqualTypeOf<Exclude<keyof RowOf<typeof Player, typeof computing>, 'tags'>>()

// The key of a singleton is set by the service, also where clients would choose it.
class Wish extends Model<InferAttributes<Wish>, InferCreationAttributes<Wish>> {
  declare id: number
  declare text: string
}
expectTypeOf<CreateOf<typeof Wish>>().toEqualTypeOf<{ id: number; text: string }>()
expectTypeOf<CreateOf<typeof Wish, { singleton: () => number }>>().toEqualTypeOf<{ text: string }>()
