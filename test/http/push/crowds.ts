// A crowd of one view: it is told in parts, and each of it hears of each event once, in order.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter } from '../../../lib/index.js'
import { openPush, type Subscriber } from '../../support/push.js'

const SIZE = 520

ava('each of more than 500 clients of one view hears of each event once, in order', async (t) => {
  t.timeout(120_000)
  let notes!: CrudRouter
  const stage = await openPush(
    ({ sequelize }, app, io) => {
      const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
      notes = crudRouter(Note, { push: { io } })
      app.use(notes)
    },
    { connectionStateRecovery: { maxDisconnectionDuration: 120_000 } },
  )
  t.teardown(stage.close)
  const crowd: Subscriber[] = []
  while (crowd.length < SIZE) {
    crowd.push(...(await Promise.all(Array.from({ length: 40 }, () => stage.subscribe(notes)))))
  }
  const [roamer, witness] = crowd as [Subscriber, Subscriber]
  const { body } = await stage.post('/api/notes', { text: 'a' })
  await stage.drain(notes, witness)
  const peer = notes.resource.hub?.sockets.get(String(roamer.socket.id))
  const noticed = new Promise((resolve) => peer?.once('disconnect', resolve))
  roamer.socket.io.engine.close()
  await noticed
  await stage.patch(`/api/notes/${body.id}`, { text: 'b' })
  await stage.delete(`/api/notes/${body.id}`)
  await stage.drain(notes, witness)
  const isRecovered = await new Promise((resolve) => {
    roamer.socket.once('connect', () => resolve(roamer.socket.recovered))
    roamer.socket.connect()
  })
  t.true(isRecovered)
  await stage.post('/api/notes', { text: 'c' })
  await stage.drain(notes, witness)
  const events = ['OnCreated', 'OnUpdated', 'OnDeleted', 'OnCreated']
  for (const { received } of crowd) {
    t.deepEqual(
      received.map(([event]) => event),
      events,
    )
  }
})
