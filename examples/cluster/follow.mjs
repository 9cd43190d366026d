// `node examples/cluster/follow.mjs <port>` starts a client that prints the events it receives. The client reconnects
// when the connection is lost.

import { io } from 'socket.io-client'

const [port = '3000'] = process.argv.slice(2)
const orders = io(`http://localhost:${port}/api/orders/hub`, { transports: ['websocket'] })

orders.on('connect', () =>
  console.log(orders.recovered ? 'back again, nothing missed' : 'connected: list the orders now'),
)
orders.on('disconnect', (reason) => console.log('cut off:', reason))
orders.on('connect_error', (error) => console.log('refused:', error.data ?? error.message))
orders.on('server', (pid) => console.log('by process', pid))
for (const event of ['OnCreated', 'OnUpdated', 'OnDeleted']) {
  orders.on(event, (payload) => console.log(event, JSON.stringify(payload)))
}
orders.on('OnMissed', () => console.log('OnMissed: list the orders again'))
