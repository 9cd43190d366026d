// Hosts load what puts another class in the place of `Promise`. It is global: it needs a process of its own, which is this file.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { asUser, identityFromHeader, openStage, readStoredRow } from '../../support/stage.js'

const test = ava.serial

const stage = await openStage(({ sequelize }, app) => {
  const attributes = { title: DataTypes.STRING, tenant: DataTypes.STRING(10), secret: DataTypes.STRING }
  for (const name of ['note', 'memo']) {
    const model = sequelize.define(name, attributes, { name: { singular: name, plural: name } })
    app.use(
      crudRouter(model, {
        operations: Operations.AllWithBulk | Operations.BulkUpdate,
        identity: identityFromHeader,
        scope: ({ identity }) => ({ tenant: identity?.name ?? 'nobody' }),
        concurrency: true,
        softDelete: name === 'memo',
        includeDeletedPolicy: async () => false,
        ...(name === 'memo' ? {} : { mask: { secret: { read: 'secrets', write: 'secrets' } } }),
      }),
    )
  }
  // Has no answer yet when it is asked.
  const later = { has: async () => false } as object as ReadonlySet<string>
  const held = { name: 'one', roles: new Set<string>(), permissions: later, claims: {} }
  const model = sequelize.define('asked', attributes, { name: { singular: 'asked', plural: 'asked' } })
  app.use(crudRouter(model, { identity: () => held, mask: { secret: 'secrets' } }))
})
test.after.always(() => stage.close())

test("what a host's own set of permissions answers later opens nothing", async (t) => {
  await stage.sequelize.model('asked').create({ title: 'a', secret: 'hidden' })
  const { body } = await stage.get('/api/asked')
  t.is(body.items[0].secret, null)
  t.is((await stage.get('/api/asked?filter=secret=hidden')).status, 400)
})

class Wrapped<T> extends Promise<T> {}
class Thenable {
  static readonly resolve = Promise.resolve.bind(Promise)
  static readonly reject = Promise.reject.bind(Promise)
  static readonly all = Promise.all.bind(Promise)
  static readonly race = Promise.race.bind(Promise)
  readonly #own: Promise<unknown>

  constructor(work: ConstructorParameters<PromiseConstructor>[0]) {
    this.#own = new Native(work)
  }

  // biome-ignore lint/suspicious/noThenProperty: what is not a Promise by its class, and is one by what it does.
  then(...given: Parameters<Promise<unknown>['then']>): Promise<unknown> {
    return this.#own.then(...given)
  }

  catch(...given: Parameters<Promise<unknown>['catch']>): Promise<unknown> {
    return this.#own.catch(...given)
  }

  finally(...given: Parameters<Promise<unknown>['finally']>): Promise<unknown> {
    return this.#own.finally(...given)
  }
}

const Native = Promise
const CLASSES: readonly (readonly [what: string, of: unknown])[] = [
  ['a class above it', Wrapped],
  ['another one', Thenable],
]

for (const [what, other] of CLASSES) {
  for (const name of ['note', 'memo']) {
    test(`with ${what} in the place of Promise, scopes, masks and versions of ${name} hold as ever`, async (t) => {
      const path = `/api/${name}`
      const { body: made } = await stage.post(path, { title: 'a' }, asUser('one'))
      const { body: second } = await stage.post(path, { title: 'b' }, asUser('one'))
      const { body: foreign } = await stage.post(path, { title: 'c' }, asUser('two'))
      const model = stage.sequelize.model(name)
      const before = await Promise.all([made, second, foreign].map(({ id }) => readStoredRow(model, id)))
      Object.defineProperty(globalThis, 'Promise', { value: other, configurable: true, writable: true })
      try {
        const taken = { title: 'q', tenant: 'two', secret: 'h' }
        const patched = await stage.patch(`${path}/${made.id}`, taken, asUser('one'))
        t.is(patched.status, 428, patched.text)
        const items = [made, second].map(({ id }: { id: number }) => ({ ...taken, id }))
        t.is((await stage.patch(`${path}/bulk`, items, asUser('one'))).status, 428)
        t.is((await stage.post(path, taken, asUser('one'))).status, 403)
        t.is((await stage.get(`${path}/${foreign.id}`, asUser('one'))).status, 404)
        const list = await stage.get(path, asUser('one'))
        t.false(list.text.includes('"c"'), list.text)
        const deleted = await stage.get(`${path}?includeDeleted=true`, asUser('one'))
        t.is(deleted.status, name === 'memo' ? 403 : 400, deleted.text)
        const fitting = await stage.patch(`${path}/${second.id}`, taken, { ...asUser('one'), 'if-match': 'W/"0"' })
        t.is(fitting.status, 200, fitting.text)
      } finally {
        Object.defineProperty(globalThis, 'Promise', { value: Native, configurable: true, writable: true })
      }
      const rows = await Promise.all([made, second, foreign].map(({ id }) => readStoredRow(model, id)))
      t.deepEqual([rows[0], rows[2]], [before[0], before[2]])
      t.is(rows[1]?.tenant, 'one')
      t.is(rows[1]?.secret ?? null, name === 'memo' ? 'h' : null)
    })
  }
}
