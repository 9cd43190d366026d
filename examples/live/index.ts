// `npm run example live` serves a board of orders that is equal in every browser window.

import { printSamples, run } from '../program.js'
import type { ExampleServer } from '../server.js'
import { live } from './app.js'

function greet({ port, storage }: ExampleServer): void {
  const orders = `localhost:${port}/api/orders`
  const json = `-H 'Content-Type: application/json'`
  console.log(`The board is at http://localhost:${port}. Open it in two windows.`)
  console.log(`Its orders are new at every start: ${storage}`)
  console.log('\nWhat another terminal does shows in both:\n')
  printSamples([
    { title: 'Create', command: `curl -X POST '${orders}' ${json} -d '{"product":"Towel","total":9.9}'` },
    {
      title: 'Patch, whatever version there is',
      command: `curl -X PATCH '${orders}/6' ${json} -H 'If-Match: *' -d '{"status":"Shipped"}'`,
    },
    { title: 'Delete', command: `curl -i -X DELETE '${orders}/1'` },
  ])
}

await run('npm run example live', live, greet)
