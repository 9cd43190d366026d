// A server process for tests that choose a time zone: `TZ=Asia/Kolkata node clockServer.js`. Prints its URL when it listens, and removes
// its database when it is stopped.

import { once } from 'node:events'
import { serveClock } from './clock.js'

const served = await serveClock({})
console.log(served.url)
await once(process, 'SIGTERM')
await served.close()
