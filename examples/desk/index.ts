// `npm run example desk` starts a help desk. The program sends requests to itself, and prints them with their responses
// and the push events of a team member.

import { existsSync } from 'node:fs'
import { io as connectTo, type Socket } from 'socket.io-client'
import { PAGE } from '../admin/app.js'
import { run } from '../program.js'
import type { ExampleServer } from '../server.js'
import { ACCOUNTS } from './accounts.js'
import { example } from './example.js'
import { commandOf, type DeskRequest, LISTENER, REQUESTS, textOf } from './requests.js'

async function greet({ port, storage }: ExampleServer): Promise<void> {
  const url = `http://localhost:${port}`
  const tokens = new Map<string, string>()
  for (const { username, password } of ACCOUNTS) tokens.set(username, await signIn(url, username, password))

  console.log(`The tickets are at ${url}/api/tickets.`)
  console.log(`What they can do: ${url}/docs`)
  if (existsSync(PAGE)) console.log(`Their page: ${url}`)
  else console.log('Their page has not been built: `npm ci && npm run build` in examples/admin/page.')
  console.log(`Its data is new at every start: ${storage}`)
  console.log('\nIn another terminal, become one of these:\n')
  for (const { username, role } of ACCOUNTS) {
    console.log(`  # ${username}, ${role}\n  ${username.toUpperCase()}=${tokens.get(username)}\n`)
  }
  console.log('These requests have been sent, in this order:\n')

  const hub = connectTo(`${url}/api/tickets/hub`, {
    auth: { token: tokens.get(LISTENER) },
    reconnection: false,
  })
  await once(hub, 'connect')
  for (const request of REQUESTS) {
    const event = request.event === undefined ? null : once(hub, request.event)
    console.log(`  # ${request.title}\n  ${commandOf(request, port)}\n  ${await send(url, request, tokens)}`)
    if (event !== null) console.log(`  # ${LISTENER} hears ${request.event}\n  ${JSON.stringify(await event)}`)
    console.log()
  }
  console.log('Ctrl-C ends it.')
}

/** Resolves to the argument of the next event. */
function once(hub: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => hub.once(event, resolve).once('connect_error', reject))
}

async function signIn(url: string, username: string, password: string): Promise<string> {
  const response = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  const { token }: { token: string } = JSON.parse(await response.text())
  return token
}

/** Sends a request. Returns the status and the body of the response. */
async function send(
  url: string,
  { as, method, path, headers, body }: DeskRequest,
  tokens: ReadonlyMap<string, string>,
): Promise<string> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
      ...(as === null ? {} : { Authorization: `Bearer ${tokens.get(as)}` }),
    },
    ...(body === undefined ? {} : { body: textOf(body) }),
  })
  return `${response.status} ${await response.text()}`.trimEnd()
}

await run('npm run example desk', example, greet)
