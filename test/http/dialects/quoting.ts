// Sessions in which the text that Sequelize escapes could leave its quotes: refused, whoever has set them so.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Options } from 'sequelize'
import { CrudConfigError, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase } from '../../support/database.js'
import { onConnect } from '../../support/session.js'
import { openStage } from '../../support/stage.js'

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'
const test = ava.serial

/** Texts of which each ends a literal in one of the ways of reading backslashes. */
const ATTACKS = ["\\' ))) OR 1=1 #", "\\' ))) OR 1=1 -- ", "' ))) OR 1=1 #", "' ))) OR 1=1 -- ", "\\'", '\\', 'a\\nb']

interface Session {
  readonly options?: Options
  readonly sql: string
  /** Whether the tables are made in the session too. */
  readonly isEarly?: boolean
}

/** A resource scoped to one tenant, whose sessions are changed as told; with hooks as well. */
async function served(t: ExecutionContext, { options = {}, sql, isEarly = false }: Session) {
  const errors: unknown[] = []
  const server = await openStage(
    ({ sequelize }, app) => {
      if (isEarly) onConnect(sequelize, sql)
      const attributes = { tenant: DataTypes.STRING, text: DataTypes.STRING }
      const Plain = sequelize.define('Plain', attributes, { timestamps: false })
      const Hooked = sequelize.define('Hooked', attributes, {
        timestamps: false,
        hooks: { beforeFind: () => undefined, beforeSave: () => undefined },
      })
      for (const [model, route] of [
        [Plain, 'api/plain'],
        [Hooked, 'api/hooked'],
      ] as const) {
        app.use(
          crudRouter(model, {
            route,
            operations: Operations.AllWithBulk,
            scope: () => ({ tenant: 'mine' }),
            onError: (error: unknown) => errors.push(error),
          }),
        )
      }
      return { Plain, Hooked }
    },
    { sequelize: options },
  )
  t.teardown(() => server.close())
  return { ...server, errors }
}

async function assertRefused(t: ExecutionContext, session: Session, name: RegExp): Promise<void> {
  const { get, post, errors } = await served(t, session)
  for (const route of ['/api/plain', '/api/hooked']) {
    for (const [what, send] of [
      ['list', () => get(`${route}?text=${encodeURIComponent("' ))) OR 1=1 #")}`)],
      ['count', () => get(`${route}?count=true`)],
      ['record', () => get(`${route}/1`)],
      ['create', () => post(route, { text: 'x' })],
      ['bulk', () => post(`${route}/bulk`, [{ text: 'x' }])],
    ] as const) {
      const { status, text } = await send()
      t.is(status, 500, `${what} ${route}`)
      t.notRegex(text, name)
      const error = errors.shift()
      t.regex(error instanceof Error ? error.message : '', name, `${what} ${route}`)
      t.is(errors.length, 0)
    }
  }
}

test('text of quotes and backslashes is found by itself alone, on every path', async (t) => {
  const { get, post } = await served(t, { sql: '' })
  for (const route of ['/api/plain', '/api/hooked']) {
    t.is(
      (
        await post(
          `${route}/bulk`,
          ATTACKS.map((text) => ({ text })),
        )
      ).status,
      201,
    )
    for (const text of ATTACKS) {
      const { body } = await get(`${route}?text=${encodeURIComponent(text)}`)
      t.deepEqual(
        body.items.map((item: { text: string }) => item.text),
        [text],
        route,
      )
    }
  }
})

if (isMysql) {
  test('sessions with NO_BACKSLASH_ESCAPES are refused, whoever has set the mode', async (t) => {
    await assertRefused(t, { sql: "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", isEarly: true }, /NO_BACKSLASH_ESCAPES/)
  })

  test('sessions in which values of CHAR equal nothing, or writes are not committed, are refused', async (t) => {
    await assertRefused(
      t,
      { sql: "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'", isEarly: true },
      /PAD_CHAR_TO_FULL_LENGTH/,
    )
    await assertRefused(t, { sql: 'SET autocommit = 0', isEarly: true }, /autocommit/)
  })

  test('a session that turns to NO_BACKSLASH_ESCAPES behind the first lets no filter out of the scope', async (t) => {
    const { get, Plain, Hooked } = await served(t, { options: { pool: { max: 1 } }, sql: '' })
    for (const model of [Plain, Hooked]) {
      await model.bulkCreate([
        { tenant: 'mine', text: 'x' },
        { tenant: 'other', text: 'secret' },
      ] as never)
    }
    for (const route of ['/api/plain', '/api/hooked']) t.is((await get(route)).body.items.length, 1)
    await Plain.sequelize?.query("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
    for (const route of ['/api/plain', '/api/hooked']) {
      for (const text of ATTACKS) {
        const { body } = await get(`${route}?text=${encodeURIComponent(text)}`)
        t.deepEqual(body.items ?? [], [], `${route} ${text}`)
        const searched = await get(`${route}?filter=${encodeURIComponent(`text*${text.replace(/[\\,|()]/g, '\\$&')}`)}`)
        t.deepEqual(searched.body.items ?? [], [], `${route} ${text}`)
      }
    }
  })
}

if (databaseName === 'postgres') {
  test('standardConformingStrings: false is refused at mount', async (t) => {
    const database = await openDatabase({ standardConformingStrings: false })
    t.teardown(() => database.close())
    const Note = database.sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
    t.throws(() => crudRouter(Note), {
      instanceOf: CrudConfigError,
      code: 'UNSAFE_CONNECTION',
      message: /standardConformingStrings/,
    })
  })

  test('sessions with standard_conforming_strings off are refused, whoever has set them so', async (t) => {
    const sql = 'SET standard_conforming_strings = off'
    await assertRefused(t, { sql, isEarly: true }, /standard_conforming_strings/)
  })

  test('a session that turns standard_conforming_strings off behind the first lets no filter out of the scope', async (t) => {
    const { get, Plain, Hooked } = await served(t, { options: { pool: { max: 1 } }, sql: '' })
    for (const model of [Plain, Hooked]) {
      await model.bulkCreate([
        { tenant: 'mine', text: 'x' },
        { tenant: 'other', text: 'secret' },
      ] as never)
    }
    for (const route of ['/api/plain', '/api/hooked']) t.is((await get(route)).body.items.length, 1)
    await Plain.sequelize?.query('SET standard_conforming_strings = off')
    for (const route of ['/api/plain', '/api/hooked']) {
      for (const text of ATTACKS) {
        const { body } = await get(`${route}?text=${encodeURIComponent(text)}`)
        t.deepEqual(body.items ?? [], [], `${route} ${text}`)
      }
    }
  })
}
