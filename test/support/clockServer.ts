// A server in a process of its own, for tests that start it in a time zone: `TZ=Asia/Kolkata node clockServer.js`. It
// prints its URL once it listens, and takes its database with it when it is told to stop.

import { once } from 'node:events'
import { serveClock } from './clock.js'

const served = await serveClock({})
console.log(served.url)
await once(process, 'SIGTERM')
await served.close()
