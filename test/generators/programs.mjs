// Generators of clients, and programs that use the generated clients. A program gets the server's address and prints
// the responses.

const SAYS = `
declare const process: { readonly argv: readonly string[]; exitCode: number }
function is(what: string, actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (one !== other) throw new Error(what + ': ' + one + ' instead of ' + other)
  seen.push(what)
}
const seen: string[] = []
`

export const ORVAL = {
  packages: ['orval@8', 'typescript@5.9'],
  generate: (example) => ['orval', '--config', `${example}.config.mjs`],
  configuration: (example, baseUrl) => ({
    [`${example}.config.mjs`]: `export default ${JSON.stringify({
      [example]: {
        input: `./${example}.json`,
        output: { target: `./${example}.ts`, client: 'fetch', mode: 'single', baseUrl },
      },
    })}`,
  }),
  uses: {
    league: `
import { createPlayer, deletePlayer, getPlayer, listPlayers, updatePlayer, type Player, type PlayerPage } from './league.js'
${SAYS}
const listed = await listPlayers({ filter: 'Level>25', sort: ['-level'], pageSize: 2 })
if (listed.status !== 200) throw new Error('the list answers ' + listed.status)
const page = listed.data as PlayerPage
is('list', page.items.map(({ level }) => level), [90, 75])
const made = await createPlayer({ name: 'Ewa', level: 12, email: 'ewa@test.pl' })
if (made.status !== 201) throw new Error('the create answers ' + made.status)
const { id }: Player = made.data
const changed = await updatePlayer(id, { email: null })
if (changed.status !== 200) throw new Error('the patch answers ' + changed.status)
is('patch', changed.data.email, null)
const got = await getPlayer(id, { select: ['name', 'email'] })
is('get', got.status === 200 ? got.data : got.status, { name: 'Ewa', email: null })
is('delete', (await deletePlayer(id)).status, 204)
const gone = await getPlayer(id)
is('problem', gone.status === 404 ? gone.data.code : gone.status, 'not-found')
const wrong = await createPlayer({ name: 'E' })
is('validation', wrong.status === 400 && 'errors' in wrong.data ? Object.keys(wrong.data.errors ?? {}) : wrong.status, ['name'])
console.log(seen.join(', '))
`,
    shop: `
import { createOrder, deleteOrder, getOrder, getStock, linkProductTag, listOrderLines, updateOrder, type LinePage } from './shop.js'
${SAYS}
const made = await createOrder({ customerId: 1, lines: [{ productId: 1, quantity: 2 }, { productId: 2, quantity: 1 }] })
if (made.status !== 201) throw new Error('the create answers ' + made.status)
const { id, lines = [] } = made.data
is('create with lines', lines.map(({ quantity }) => quantity), [2, 1])
const first = lines[0]?.id
if (first === undefined) throw new Error('the first line has no key')
const changed = await updateOrder(id, { status: 'Paid', lines: [{ id: first }] })
if (changed.status !== 200) throw new Error('the patch answers ' + changed.status)
is('patch', changed.data.status, 'Paid')
const nested = await listOrderLines(id)
is('nested list', nested.status === 200 ? (nested.data as LinePage).items.length : nested.status, 1)
const got = await getOrder(id, { select: ['status', 'customer.name'] })
is('get', got.status === 200 ? got.data.status : got.status, 'Paid')
is('composite key', (await getStock('1~2')).status, 200)
is('link', (await linkProductTag(2, 3)).status, 204)
const [unlined, deleted] = [await updateOrder(id, { lines: [] }), await deleteOrder(id)]
is('delete', [unlined.status, deleted.status], [200, 204])
console.log(seen.join(', '))
`,
  },
}

const CLIENT = `
import createClient from 'openapi-fetch'
`

export const OPENAPI_TYPESCRIPT = {
  packages: ['openapi-typescript@7', 'openapi-fetch@0.17', 'typescript@5.9'],
  generate: (example) => ['openapi-typescript', `${example}.json`, '-o', `${example}.d.ts`],
  configuration: () => ({}),
  uses: {
    league: `${CLIENT}
import type { components, paths } from './league.js'
${SAYS}
const client = createClient<paths>({ baseUrl: process.argv[2] ?? '', querySerializer: { array: { style: 'form', explode: false } } })
const listed = await client.GET('/api/players', { params: { query: { filter: 'Level>25', sort: ['-level'], pageSize: 2 } } })
const page = listed.data as components['schemas']['PlayerPage']
is('list', page.items.map(({ level }) => level), [90, 75])
const made = await client.POST('/api/players', { body: { name: 'Ewa', level: 12, email: 'ewa@test.pl' } })
const id = made.data?.id ?? 0
const params = { path: { id } }
const changed = await client.PATCH('/api/players/{id}', { params, body: { email: null } })
is('patch', changed.data?.email, null)
const got = await client.GET('/api/players/{id}', { params: { ...params, query: { select: ['name', 'email'] } } })
is('get', got.data, { name: 'Ewa', email: null })
is('delete', (await client.DELETE('/api/players/{id}', { params })).response.status, 204)
const gone = await client.GET('/api/players/{id}', { params })
is('problem', gone.error?.code, 'not-found')
const wrong = await client.POST('/api/players', { body: { name: 'E' } })
is('validation', Object.keys((wrong.error as components['schemas']['ValidationProblem']).errors), ['name'])
console.log(seen.join(', '))
`,
    shop: `${CLIENT}
import type { components, paths } from './shop.js'
${SAYS}
const client = createClient<paths>({ baseUrl: process.argv[2] ?? '', querySerializer: { array: { style: 'form', explode: false } } })
const made = await client.POST('/api/orders', {
  body: { customerId: 1, lines: [{ productId: 1, quantity: 2 }, { productId: 2, quantity: 1 }] },
})
if (made.data === undefined) throw new Error('the create answers ' + made.response.status)
const { id, lines = [] } = made.data
is('create with lines', lines.map(({ quantity }) => quantity), [2, 1])
const first = lines[0]?.id
if (first === undefined) throw new Error('the first line has no key')
const params = { path: { id } }
const changed = await client.PATCH('/api/orders/{id}', { params, body: { status: 'Paid', lines: [{ id: first }] } })
is('patch', changed.data?.status, 'Paid')
const nested = await client.GET('/api/orders/{id}/lines', { params })
is('nested list', (nested.data as components['schemas']['LinePage']).items.length, 1)
const got = await client.GET('/api/orders/{id}', { params: { ...params, query: { select: ['status', 'customer.name'] } } })
is('get', got.data?.status, 'Paid')
is('composite key', (await client.GET('/api/stocks/{id}', { params: { path: { id: '1~2' } } })).response.status, 200)
is('link', (await client.PUT('/api/products/{id}/tags/{key}', { params: { path: { id: 2, key: 3 } } })).response.status, 204)
await client.PATCH('/api/orders/{id}', { params, body: { lines: [] } })
is('delete', (await client.DELETE('/api/orders/{id}', { params })).response.status, 204)
console.log(seen.join(', '))
`,
  },
}
