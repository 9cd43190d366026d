// `rowLevelSecurity`: a hub whose clients would hear of rows that the database hides from them is not opened.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, type CrudRouter, crudRouter } from '../../../lib/index.js'
import { openPush } from '../../support/push.js'

ava('with row level security push stays off without a scope, with a warning, and is on with one', async (t) => {
  const warned: Error[] = []
  const hear = (warning: Error): void => void warned.push(warning)
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  const routers: CrudRouter[] = []
  const stage = await openPush(({ sequelize }, app, io) => {
    const options: CrudOptions = { rowLevelSecurity: true, push: { io } }
    const define = (name: string) =>
      sequelize.define(name, { text: DataTypes.STRING, tenant: DataTypes.INTEGER }, { timestamps: false })
    routers.push(
      crudRouter(define('Open'), options),
      crudRouter(define('Scoped'), { ...options, scope: () => ({ tenant: 1 }) }),
    )
    app.use(routers)
  })
  t.teardown(stage.close)
  const [open, scoped] = routers as [CrudRouter, CrudRouter]
  t.is(open.resource.hub, null)
  t.is<unknown, unknown>(open.notify, null)
  t.is((await stage.post('/api/opens', { text: 'a' })).status, 201)
  const { refusal } = await stage.subscribe('/api/opens/hub')
  t.is(refusal?.message, 'Invalid namespace')
  t.is((await stage.subscribe(scoped)).refusal, null)
  t.deepEqual(
    warned
      .filter((warning) => Reflect.get(warning, 'code') === 'CRUD_PUSH_REFUSED')
      .map(({ message }) => message.split(',')[0]),
    ['Open: push is disabled'],
  )
})
