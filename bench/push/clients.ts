// Client process of `npm run bench:push`. The client implements only a part of Socket.IO's protocol over `ws`, because
// a thousand complete clients in one process would distort the figures.

import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Done, Task } from './messages.js'

let sockets: WebSocket[] = []
let seen = 0
let expected = Number.POSITIVE_INFINITY

function sendDone(done: Done): void {
  process.send?.(done)
}

// Packet types of Engine.IO: 0 open, 2 ping, 3 pong, 4 message. Packet types of Socket.IO inside a message: 0 connect,
// 2 event.
async function connect(url: string, path: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  const joined = new Promise<void>((resolve, reject) => {
    socket.on('message', (data: Buffer) => {
      const text = data.toString('latin1', 0, 2)
      if (text === '42') count()
      else if (text === '2') socket.send('3')
      else if (text.startsWith('0')) socket.send(`40${path},${JSON.stringify({ token })}`)
      else if (text === '40') resolve()
      else if (text === '44') reject(new Error(data.toString()))
    })
  })
  await once(socket, 'open')
  await joined
  return socket
}

function count(): void {
  seen += 1
  if (seen === expected) sendDone({ kind: 'done', task: 'expect' })
}

process.on('message', async (task: Task) => {
  switch (task.kind) {
    case 'connect': {
      const url = `ws://127.0.0.1:${task.port}/socket.io/?EIO=4&transport=websocket`
      for (let index = 0; index < task.clients; index++) {
        sockets.push(await connect(url, task.path, task.tokens[index % task.tokens.length] ?? ''))
      }
      sendDone({ kind: 'done', task: 'connect' })
      return
    }
    case 'expect':
      seen = 0
      expected = task.events
      return
    case 'close': {
      const closed = sockets.map((socket) => once(socket, 'close'))
      for (const socket of sockets) socket.close()
      await Promise.all(closed)
      sockets = []
      sendDone({ kind: 'done', task: 'close' })
    }
  }
})
