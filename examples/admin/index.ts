// `npm run example admin` starts a react-admin application for the shop and its employees.

import { existsSync } from 'node:fs'
import { run } from '../program.js'
import { ACCOUNTS } from '../secured/accounts.js'
import { tokensOf } from '../secured/tokens.js'
import type { ExampleServer } from '../server.js'
import { admin, PAGE } from './app.js'

function greet({ port, storage }: ExampleServer): void {
  if (existsSync(PAGE)) console.log(`The page is at http://localhost:${port}. Open it in two windows.`)
  else {
    console.log('The page has not been built yet: `npm ci && npm run build` in examples/admin/page.')
    console.log(`Until then there is the API alone, at http://localhost:${port}/api.`)
  }
  console.log(`Its data is new at every start: ${storage}`)
  console.log('\nSign in as one of these:\n')
  for (const { username, password, role, tenant } of ACCOUNTS)
    console.log(`  ${username} / ${password}  (${role} of ${tenant})`)
  console.log('\nCtrl-C ends it.')
}

await run('npm run example admin', () => admin(tokensOf(process.env.JWT_SECRET)), greet)
