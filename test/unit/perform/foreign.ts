// What a broken foreign key is told as, held against what drivers say of it: whose records point where, and which table means it.

import test from 'ava'
import { DatabaseError, DataTypes, ForeignKeyConstraintError, Sequelize } from 'sequelize'
import { queryOf } from '../../../lib/index.js'
import { foreignKeyProblem } from '../../../lib/perform/foreignKeyProblem.js'
import { storeOf } from '../../../lib/perform/index.js'
import type { StatementContext } from '../../../lib/perform/store.js'
import type { Plan } from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import { dialectOptions } from '../../support/database.js'

const NOWHERE = 'A record that this one refers to does not exist.'
const POINTED_AT = 'Other records still refer to this one.'
const EITHER = 'A record that this one refers to does not exist, or other records still refer to this one.'

/** Nothing listens there: what is looked up fails, as it does where the database has gone since. */
const GONE = { host: '127.0.0.1', port: 9, logging: false } as const

function storeFor(dialect: 'postgres' | 'mysql' | 'mariadb', schema?: string): StatementContext {
  const sequelize = new Sequelize({ ...dialectOptions(dialect), ...GONE })
  const Team = sequelize.define('Team', { name: DataTypes.STRING })
  const attributes = { name: DataTypes.STRING, teamId: { type: DataTypes.INTEGER, field: 'team_id' } }
  const Player = sequelize.define('Player', attributes, {
    tableName: 'players',
    ...(schema === undefined ? {} : { schema }),
  })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const { resource } = queryOf(Player)
  return storeOf(resource as Resource)
}

const PROJECTION = { columns: [], members: [] }
const GET: Plan = { kind: 'get', where: { kind: 'always' }, projection: PROJECTION }
const written = (teamId?: number): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([['name', 'x'], ...(teamId === undefined ? [] : ([['teamId', teamId]] as const))])
const createOf = (teamId?: number): Plan =>
  ({
    kind: 'create',
    changes: written(teamId),
    serverValues: new Map(),
    projection: PROJECTION,
    invalid: null,
  }) as never
const updateOf = (teamId?: number): Plan =>
  ({
    kind: 'update',
    changes: written(teamId),
    serverValues: { values: new Map() },
    projection: PROJECTION,
    invalid: null,
  }) as never
const bulkOf = (): Plan =>
  ({
    kind: 'bulkCreate',
    records: [written()],
    serverValues: new Map(),
    projection: PROJECTION,
    invalid: new Map(),
  }) as never

/** An error of Sequelize's around what a driver says of a key of a table. */
function said(store: StatementContext, table: string, column: string, isPointedAt = false): Error {
  const fields = store.dialect.name === 'postgres' ? ofPostgres : ofMysql
  const parent = Object.assign(new Error('secret'), { sql: 'INSERT' }, fields(table, column, isPointedAt))
  return new ForeignKeyConstraintError({ parent } as never)
}

function ofPostgres(table: string, column: string, isPointedAt: boolean): object {
  const what = isPointedAt ? 'is still referenced from' : 'is not present in'
  return { code: '23503', table, detail: `Key (${column})=(99) ${what} table "others".` }
}

function ofMysql(table: string, column: string, isPointedAt: boolean): object {
  const constraint = `CONSTRAINT \`of\` FOREIGN KEY (\`${column}\`) REFERENCES \`others\` (\`id\`)`
  const sqlMessage = `a foreign key constraint fails (\`league\`.\`${table}\`, ${constraint})`
  return { errno: isPointedAt ? 1451 : 1452, code: 'ER_OF_SOME_NAME', sqlMessage }
}

const stores = [storeFor('postgres'), storeFor('postgres', 'sport'), storeFor('mysql'), storeFor('mariadb')] as const

async function tell(error: unknown, store: StatementContext, plan: Plan): Promise<object | undefined> {
  const problem = await foreignKeyProblem(error, store, plan)
  const text = JSON.stringify(problem)
  if (/secret|team_id|players|others/.test(text)) throw new Error(text)
  return problem === null ? undefined : JSON.parse(text)
}

test('a key of the record’s own table is told with the field that clients know, also within a schema', async (t) => {
  for (const store of stores) {
    for (const plan of [createOf(), updateOf(), bulkOf()]) {
      const told = await tell(said(store, 'players', 'team_id'), store, plan)
      t.like(told, { status: 409, detail: NOWHERE, errors: { teamId: ['does not exist.'] } }, store.dialect.name)
    }
  }
})

test('a key of another table, which a trigger writes to, is told without any field, though it has the same name', async (t) => {
  for (const store of stores) {
    for (const [plan, detail] of [
      [createOf(), NOWHERE],
      [bulkOf(), NOWHERE],
      [updateOf(), EITHER],
    ] as const) {
      const told = await tell(said(store, 'log', 'team_id'), store, plan)
      t.like(told, { status: 409, detail }, store.dialect.name)
      t.false(Object.hasOwn(told ?? {}, 'errors'))
    }
  }
})

test('a key of a column that is no attribute is told without any field', async (t) => {
  for (const store of stores) {
    const told = await tell(said(store, 'players', 'hidden_id'), store, createOf())
    t.like(told, { status: 409, detail: NOWHERE })
    t.false(Object.hasOwn(told ?? {}, 'errors'))
  }
})

test('that others still point at the record is said as such, and no field is named for it', async (t) => {
  for (const store of stores) {
    for (const plan of [updateOf(), createOf()]) {
      const told = await tell(said(store, 'players', 'team_id', true), store, plan)
      t.like(told, { status: 409, detail: POINTED_AT }, store.dialect.name)
      t.false(Object.hasOwn(told ?? {}, 'errors'))
    }
  }
})

test('where the database cannot be asked any more which key it is, the answer says what is known without it', async (t) => {
  for (const store of stores) {
    for (const [plan, detail] of [
      [createOf(99), NOWHERE],
      [updateOf(99), EITHER],
    ] as const) {
      const told = await tell(said(store, 'log', 'team_id'), store, plan)
      t.like(told, { status: 409, detail }, store.dialect.name)
      t.false(Object.hasOwn(told ?? {}, 'errors'))
    }
  }
})

test('a read whose hook has broken a foreign key is told without any field, and other failures are none of its business', async (t) => {
  for (const store of stores) {
    t.like(await tell(said(store, 'log', 'team_id'), store, GET), { status: 409, detail: EITHER })
    t.is(await foreignKeyProblem(new DatabaseError(Object.assign(new Error('x'), { sql: '' })), store, GET), null)
    t.is(await foreignKeyProblem(new Error('x'), store, GET), null)
  }
})
