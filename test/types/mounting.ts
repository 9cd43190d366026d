// Checked by the compiler, together with everything else: what a host may write, and what it must not.

import { expectTypeOf } from 'expect-type'
import {
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type ModelStatic,
  type NonAttribute,
} from 'sequelize'
import type { Server } from 'socket.io'
import { resource } from '../../lib/client/index.js'
import {
  type ConfigErrorCode,
  type CreateOf,
  type CrudConfigError,
  type CrudDefaults,
  type CrudOptions,
  type CrudRouter,
  createCrud,
  crudController,
  crudHub,
  crudRouter,
  hasRole,
  type PatchOf,
  type Policy,
  type ResourceInfo,
  type RowOf,
  type ScopeFunction,
} from '../../lib/index.js'

class Team extends Model<InferAttributes<Team>, InferCreationAttributes<Team>> {
  declare id: CreationOptional<number>
  declare name: string
}

class Player extends Model<InferAttributes<Player>, InferCreationAttributes<Player>> {
  declare id: CreationOptional<number>
  declare name: string
  declare wage: number
  declare teamId: number | null
  declare team?: NonAttribute<Team>
}

// Nothing here runs.
export function mounting(Untyped: ModelStatic<Model>): void {
  // A router carries its model and its options as they were written, without `as const`.
  const players = crudRouter(Player, { mask: { wage: 'payroll' }, fields: { teamId: { exclude: 'response' } } })
  expectTypeOf(players).toMatchTypeOf<CrudRouter<Player>>()
  expectTypeOf<RowOf<typeof players>>().toEqualTypeOf<{ id: number; name: string; wage: number | null }>()
  expectTypeOf<RowOf<ReturnType<typeof createdBy>>>().toEqualTypeOf<RowOf<typeof players>>()
  expectTypeOf(players.resource).toEqualTypeOf<ResourceInfo>()

  // Models of several classes in one list.
  for (const model of [Team, Player]) crudRouter(model)
  for (const model of [Team, Player, Untyped]) crudController(model, { operations: ['getList'] })

  // Names that the model has.
  crudRouter(Player, { keyProperty: 'id', flatten: ['team'], scope: () => ({ teamId: 1 }) })
  crudRouter(Untyped, {
    keyProperty: 'anything',
    flatten: ['anything'],
    mask: { anything: 'x' },
    scope: () => ({ a: 1 }),
  })
  const options: CrudOptions<Player> = { mask: { wage: { read: 'payroll' } }, deletePolicy: hasRole('admin') }
  crudRouter(Player, options)

  // Options in a constant.
  const sure = { fields: { teamId: { exclude: 'response' } }, operations: ['getList'] } satisfies CrudOptions<Player>
  const listed = crudRouter(Player, sure)
  expectTypeOf<RowOf<typeof listed>>().toEqualTypeOf<{ id: number; name: string; wage: number }>()
  const fixed = { fields: { teamId: { exclude: 'response' } } } as const
  const constant = crudRouter(Player, fixed)
  expectTypeOf<RowOf<typeof constant>>().toEqualTypeOf<RowOf<typeof listed>>()
  const plain = { fields: { teamId: { exclude: 'response' } } }
  // @ts-expect-error: any text is no shape
  crudRouter(Player, plain)
  const declared: CrudOptions<Player> = { fields: { teamId: { exclude: 'response' } } }
  const forgetful = crudRouter(Player, declared)
  expectTypeOf<RowOf<typeof forgetful>>().toEqualTypeOf<RowOf<typeof Player>>()

  // @ts-expect-error: no option is called so
  crudRouter(Player, { rout: '/players' })
  // @ts-expect-error: nor beside others
  crudRouter(Player, { route: '/players', authorisePolicy: hasRole('admin') })
  // @ts-expect-error: no attribute is called so
  crudRouter(Player, { keyProperty: 'idd' })
  // @ts-expect-error
  crudRouter(Player, { mask: { wages: 'payroll' } })
  // @ts-expect-error: nor beside one that is
  crudRouter(Player, { mask: { wage: 'payroll', wages: 'payroll' } })
  // @ts-expect-error
  crudRouter(Player, { fields: { wage: { filterable: true }, wages: { filterable: true } } })
  // @ts-expect-error: the name is wrong beside names that are right, however deep it stands
  crudRouter(Player, { fields: { wage: { exclude: 'list', nam: 'pay' } } })
  // @ts-expect-error
  crudRouter(Player, { fields: { wage: { rules: { min: 1, maximum: 9 } } } })
  // @ts-expect-error
  crudRouter(Player, { mask: { wage: { read: 'payroll', wirte: 'payroll' } } })
  // @ts-expect-error
  crudRouter(Player, { relations: { team: { routes: true, wirte: true } } })
  // @ts-expect-error
  crudRouter(Player, { query: { search: { fields: ['name'], fulltext: true } } })
  // @ts-expect-error
  crudRouter(Player, { actions: { go: { on: 'record', method: 'post', handler: () => undefined, polcy: 'go' } } })
  // @ts-expect-error
  crudRouter(Player, { computed: { mood: { type: 'string', resolve: () => [], nulable: true } } })
  // @ts-expect-error
  crudRouter(Player, { scope: () => ({ tenant: 1 }) })
  // @ts-expect-error: neither attribute nor association
  crudRouter(Player, { flatten: ['teams'] })
  // @ts-expect-error
  crudRouter(Player, { operations: ['fetch'] })
  // @ts-expect-error
  createCrud().crudController(Player, { query: { pageSiz: 5 } })

  // Codes are a union, for a switch that the compiler completes.
  expectTypeOf<CrudConfigError['code']>().toEqualTypeOf<ConfigErrorCode>()
  expectTypeOf<'SDTO011'>().toMatchTypeOf<ConfigErrorCode>()
}

// What models share is of none of them in particular, and the model is the one that is given first.
export function sharing(shared: ScopeFunction, policy: Policy, Untyped: ModelStatic<Model>, io: Server): void {
  const players = crudRouter(Player, { scope: shared, deletePolicy: policy })
  expectTypeOf(players).toMatchTypeOf<CrudRouter<Player>>()
  expectTypeOf<CreateOf<typeof players>>().toEqualTypeOf<CreateOf<typeof Player>>()
  expectTypeOf<PatchOf<typeof players>>().toEqualTypeOf<PatchOf<typeof Player>>()
  const within = crudRouter(Player, { scope: (context) => shared(context) })
  expectTypeOf<CreateOf<typeof within>>().toEqualTypeOf<CreateOf<typeof Player>>()
  const handlers = crudController(Player, { scope: shared })
  expectTypeOf<CreateOf<typeof handlers>>().toEqualTypeOf<CreateOf<typeof Player>>()
  const others = createCrud().crudRouter(Player, { scope: shared })
  expectTypeOf<CreateOf<typeof others>>().toEqualTypeOf<CreateOf<typeof Player>>()

  crudRouter(Player, { scope: shared, mask: { wage: 'payroll' }, flatten: ['team'], keyProperty: 'id' })
  crudRouter(Untyped, { scope: shared, mask: { anything: 'x' }, flatten: ['anything'] })
  // @ts-expect-error: no attribute is called so, whatever else is there
  crudRouter(Player, { scope: shared, mask: { wages: 'payroll' } })
  // @ts-expect-error
  crudRouter(Player, { scope: shared, fields: { wages: { exclude: true } } })
  // @ts-expect-error
  crudRouter(Player, { scope: shared, flatten: ['teams'] })
  // @ts-expect-error
  crudController(Player, { scope: shared, keyProperty: 'idd' })
  // @ts-expect-error
  createCrud().crudRouter(Player, { scope: (context) => shared(context), mask: { wages: 'payroll' } })
  // @ts-expect-error: a hub has the same options
  crudHub(Player, { io, scope: shared, mask: { wages: 'payroll' } })
  crudHub(Player, { io, scope: shared, mask: { wage: 'payroll' } })
  // @ts-expect-error: a scope of another model is none of this one
  crudRouter(Team, { scope: (): { wage: number } => ({ wage: 1 }) })
}

function createdBy() {
  return createCrud().crudRouter(Player, { mask: { wage: 'payroll' }, fields: { teamId: { exclude: 'response' } } })
}

// Defaults are of no model in particular.
export function defaults(policy: Policy): void {
  const crud = createCrud({
    deletePolicy: policy,
    query: { pageSize: 5 },
    push: { audience: 'all' },
    requirePolicies: true,
  })
  expectTypeOf(crud.routers([Player]).resources).toEqualTypeOf<readonly CrudRouter[]>()
  crud.routers({ Player }, { Player: { pageSize: 5 } as object, Team: false })
  // @ts-expect-error: about one model
  createCrud({ route: 'players' })
  // @ts-expect-error: about one model
  createCrud({ scope: () => null })
  // @ts-expect-error: each resource has its own
  createCrud({ push: { path: '/hub' } })
  // @ts-expect-error
  crud.routers([Player], { Player: true })
}

// The types of routers know the defaults that change shapes.
export function shapedByDefaults(wide: CrudDefaults, declared: CrudOptions<Player>): void {
  interface Snake {
    id: number
    name: string
    wage: number
    teamId: number | null
  }
  interface Versioned extends Snake {
    edit_count: number
  }
  const crud = createCrud({ naming: 'attribute', concurrency: { inBody: true, rowVersion: 'edit_count' } })
  const players = crud.crudRouter(Player)
  expectTypeOf<RowOf<typeof players>>().toEqualTypeOf<Versioned>()
  const controller = crud.crudController(Player, { fields: { wage: { exclude: true } } })
  expectTypeOf<keyof RowOf<typeof controller>>().toEqualTypeOf<'id' | 'name' | 'teamId' | 'edit_count'>()
  // What a resource says wins, and objects are merged by member.
  const off = crud.crudRouter(Player, { concurrency: false, naming: 'camel' })
  expectTypeOf<RowOf<typeof off>>().toEqualTypeOf<Snake>()
  const on = crud.crudRouter(Player, { concurrency: true })
  expectTypeOf<keyof RowOf<typeof on>>().toEqualTypeOf<keyof Snake | 'edit_count'>()
  const merged = crud.crudRouter(Player, { concurrency: { rowVersion: 'version' } })
  expectTypeOf<keyof RowOf<typeof merged>>().toEqualTypeOf<keyof Snake | 'version'>()
  const reading = createCrud({ operations: ['getList'] })
  const listed = reading.crudRouter(Player)
  const client = resource<typeof listed>('/api/players')
  expectTypeOf(client.list).toBeFunction()
  // @ts-expect-error: the operation is off
  client.delete
  const deleted = reading.crudRouter(Player, { operations: ['delete'] })
  expectTypeOf(resource<typeof deleted>('/api/players').delete).toBeFunction()
  // Types that forget what is there leave the shapes as they are without it.
  const forgetful = createCrud(wide).crudRouter(Player)
  expectTypeOf<RowOf<typeof forgetful>>().toEqualTypeOf<Snake>()
  const unsure = createCrud({ naming: 'attribute' }).crudRouter(Player, declared)
  expectTypeOf<RowOf<typeof unsure>>().toEqualTypeOf<Snake>()
  // @ts-expect-error: there is no such naming
  createCrud({ naming: 'snake' })
  // @ts-expect-error: misspelt
  createCrud({ concurrency: { inBdy: true } })
}

// Computed fields have names of their own, which fields and mask may say, and no others.
const computing = crudRouter(Player, {
  fields: { mood: { exclude: 'list' } },
  mask: { mood: 'scout' },
  computed: {
    mood: {
      type: 'string',
      needs: ['name'],
      resolve: (records) => {
        expectTypeOf(records[0]?.name).toEqualTypeOf<string | undefined>()
        return records.map(({ name }) => name)
      },
    },
  },
})
expectTypeOf<RowOf<typeof computing>['mood']>().toEqualTypeOf<string | null>()
// @ts-expect-error there is no such attribute and no such computed field
crudRouter(Player, { fields: { moot: {} }, computed: { mood: { type: 'string', resolve: () => [] } } })
// @ts-expect-error nor such a type
crudRouter(Player, { computed: { mood: { type: 'text', resolve: () => [] } } })
// @ts-expect-error nor such an attribute that it needs
crudRouter(Player, { computed: { mood: { type: 'string', needs: ['nam'], resolve: () => [] } } })
