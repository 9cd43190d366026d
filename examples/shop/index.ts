// `npm run example shop` serves resources with relations: embedded, nested, linked and written together.

import { printSamples, run } from '../program.js'
import type { ExampleServer } from '../server.js'
import { shop } from './app.js'
import { connect } from './models.js'
import { samples } from './requests.js'
import { seed } from './seed.js'

function greet({ port, storage }: ExampleServer): void {
  console.log(`The shop is at http://localhost:${port}/api: customers, orders, products, tags, warehouses and stocks.`)
  console.log(`What they can do: http://localhost:${port}/docs`)
  console.log(`Its data is new at every start: ${storage}`)
  console.log('\nTry, in another terminal, from top to bottom:\n')
  printSamples(samples(port))
}

await run('npm run example shop', () => ({ name: 'shop', connect, app: shop, seed }), greet)
