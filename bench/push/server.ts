// Server process of `npm run bench:push`, with three hubs and a bare namespace. One bulk request causes the events of a
// hub. The bare namespace calls `emit` once per event, each in its own turn of the event loop, as the hub does.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { crudRouter } from '../../lib/http/router.js'
import { type Identity, Operations } from '../../lib/index.js'
import { type Order, PERMISSIONS, type ServerReply, type ServerTask } from './messages.js'

const folder = mkdtempSync(join(tmpdir(), 'sequelize-crud-router-push-'))
const sequelize = new Sequelize({ dialect: 'sqlite', storage: join(folder, 'push.sqlite'), logging: false })

function define(name: string): ModelStatic<Model> {
  return sequelize.define(
    name,
    {
      product: { type: DataTypes.STRING(50), allowNull: false },
      total: DataTypes.DECIMAL(10, 2),
      status: DataTypes.ENUM('Pending', 'Shipped', 'Delivered', 'Cancelled'),
      cost: DataTypes.INTEGER,
      margin: DataTypes.INTEGER,
    },
    { timestamps: false },
  )
}

/** Identity that has every permission in the `Authorization` header. */
function identity({ headers }: { readonly headers: { readonly authorization?: string | undefined } }): Identity {
  const permissions = new Set((headers.authorization ?? '').replace(/^Bearer /, '').split(' '))
  return { name: null, roles: new Set(), permissions, claims: {} }
}

const app = express()
const http = createServer(app)
const io = new Server(http, { serveClient: false, perMessageDeflate: false })
const limits = { bulkItems: 10_000, bodySize: 10 * 1024 * 1024 }
const operations = Operations.AllWithBulk
const [cost, margin] = PERMISSIONS
app.use(crudRouter(define('Plain'), { operations, limits, push: { io } }))
app.use(crudRouter(define('Masked'), { operations, limits, push: { io }, identity, mask: { cost, margin } }))
const bare = io.of('/bare')

async function emit({ events, payload }: { readonly events: number; readonly payload: Order }): Promise<void> {
  for (let count = 0; count < events; count++) {
    bare.emit('OnCreated', payload)
    await nextTurn()
  }
}

function sendReply(reply: ServerReply): void {
  process.send?.(reply)
}

process.on('message', (wish: ServerTask) => {
  if (wish.kind === 'emit') emit(wish)
  else {
    global.gc?.()
    const { heapUsed, rss } = process.memoryUsage()
    sendReply({ kind: 'memory', heapUsed, rss })
  }
})
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('SIGTERM', () => process.exit(0))

await sequelize.sync()
http.listen(0, '127.0.0.1', () => sendReply({ kind: 'ready', port: (http.address() as AddressInfo).port }))
