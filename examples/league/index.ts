// `npm start`: three resources over a SQLite file, and what to ask them.

import { printSamples, run } from '../program.js'
import type { ExampleServer } from '../server.js'
import { league } from './app.js'
import { connect } from './models.js'
import { samples } from './requests.js'
import { seed } from './seed.js'

function greet({ port, storage }: ExampleServer): void {
  console.log(`The league is at http://localhost:${port}/api/players, /api/teams and /api/orders.`)
  console.log(`What they can do: http://localhost:${port}/docs`)
  console.log(`Its data is new at every start: ${storage}`)
  console.log('\nTry, in another terminal:\n')
  printSamples(samples(port))
}

await run('npm start', () => ({ name: 'league', connect, app: league, seed }), greet)
