// This package behind its own `createServer`.

import { createServer } from '../../lib/index.js'
import { application } from './application.js'
import { listen, open } from './serve.js'

await open()
listen(createServer(application()))
