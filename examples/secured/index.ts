// `npm run example secured` serves a login, and one resource with every optional behaviour.

import { printSamples, run } from '../program.js'
import type { ExampleServer } from '../server.js'
import { secured } from './app.js'
import { connect, User } from './models.js'
import { samples } from './requests.js'
import { seed } from './seed.js'
import { TOKEN_SECONDS, type Tokens, tokensOf } from './tokens.js'

let tokens: Tokens

async function greet({ port, storage }: ExampleServer): Promise<void> {
  console.log(`The employees are at http://localhost:${port}/api/employees.`)
  console.log(`What they can do: http://localhost:${port}/docs`)
  console.log(`Their data is new at every start: ${storage}`)
  console.log('\nIn another terminal, become one of these:\n')
  for (const user of await User.findAll({ order: ['id'] })) {
    console.log(`  # ${user.username}, ${user.role} of ${user.tenant}`)
    console.log(`  ${user.username.toUpperCase()}=${tokens.sign(user)}\n`)
  }
  console.log(`The tokens hold for ${TOKEN_SECONDS / 60} minutes. POST /login gives new ones; the passwords of`)
  console.log('these accounts are in examples/secured/accounts.ts. Then try:\n')
  printSamples(samples(port))
}

await run(
  'npm run example secured',
  () => {
    tokens = tokensOf(process.env.JWT_SECRET)
    // The passwords of the accounts are public, so the server accepts connections only from this machine.
    return { name: 'secured', host: 'localhost', connect, app: () => secured(tokens), seed }
  },
  greet,
)
