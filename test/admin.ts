// The administration of `npm run example admin`: built as its package says, and used by people in a browser.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ava, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContextOptions, Locator, Page, Request } from 'playwright-core'
import { admin } from '../examples/admin/app.js'
import { example as desk } from '../examples/desk/example.js'
import { Ticket } from '../examples/desk/models.js'
import { ACCOUNTS } from '../examples/secured/accounts.js'
import { tokensOf } from '../examples/secured/tokens.js'
import { type ExampleServer, serve } from '../examples/server.js'
import { Order, OrderLine, Product, ProductTag } from '../examples/shop/models.js'
import { hasBrowser, launch } from './support/browser.js'
import { root } from './support/program.js'

const SOURCE = join(root, 'examples/admin/page')
const VITE = join(SOURCE, 'node_modules/vite/bin/vite.js')

/** The page's package is installed by itself, and not by the root's: without it these tests are left out. */
const isInstalled = existsSync(VITE)
if (!isInstalled)
  console.warn('THE TESTS OF THE ADMINISTRATION ARE LEFT OUT: `npm ci` in examples/admin/page brings them.')

let browser: Browser
let folder: string

ava.before(async (t) => {
  if (!hasBrowser || !isInstalled) return
  t.timeout(300_000)
  folder = await mkdtemp(join(tmpdir(), 'admin-page-'))
  const { NODE_OPTIONS: _, NODE_ENV: __, ...env } = process.env
  await promisify(execFile)(process.execPath, [VITE, 'build', '--outDir', folder, '--emptyOutDir'], {
    cwd: SOURCE,
    env,
  })
  browser = await launch()
})

ava.after.always(async () => {
  await browser?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

interface Stage {
  readonly url: string
  /** Opens the page in a browser of one's own, where this account has signed in. */
  readonly open: (username: string, options?: BrowserContextOptions) => Promise<Page>
  /** The same, where nobody has signed in yet. */
  readonly visit: () => Promise<Page>
  /** What another program does, with the rights of an administrator. */
  readonly api: (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>
  readonly faults: string[]
}

const PASSWORDS: ReadonlyMap<string, string> = new Map(ACCOUNTS.map(({ username, password }) => [username, password]))

/** What the browser itself says of answers that are no success, and of connections that are given up. */
const KNOWN = /^Failed to load resource: |^WebSocket connection to .* before the connection is established/

async function openStage(t: ExecutionContext): Promise<Stage> {
  const server: ExampleServer = await serve(admin(tokensOf(undefined), folder), 0)
  const url = `http://localhost:${server.port}`
  const faults: string[] = []
  const pages: Page[] = []
  t.teardown(async () => {
    await Promise.all(pages.map((page) => page.context().close()))
    await server.close()
  })

  async function load(options: BrowserContextOptions, token: string | null): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, locale: 'en-GB', ...options })
    const page = await context.newPage()
    // Loading takes long where many tests are under way.
    page.setDefaultTimeout(60_000)
    pages.push(page)
    page.on('pageerror', (error) => faults.push(String(error.stack)))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !KNOWN.test(message.text())) faults.push(message.text())
    })
    if (token !== null) await page.addInitScript(`sessionStorage.setItem('token', '${token}')`)
    await page.goto(url)
    return page
  }

  async function tokenOf(username: string): Promise<string> {
    const response = await fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username, password: PASSWORDS.get(username) }),
    })
    const { token }: { token: string } = JSON.parse(await response.text())
    return token
  }

  const token = await tokenOf('ada')
  return {
    url,
    faults,
    visit: () => load({}, null),
    open: async (username, options = {}) => {
      const page = await load(options, await tokenOf(username))
      await page.getByText('Ewa').first().waitFor()
      return page
    },
    api: async (method, path, body) => {
      const response = await fetch(`${url}/api${path}`, {
        method,
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, 'If-Match': '*' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      t.true(response.ok, `${method} ${path}: ${response.status}`)
      return JSON.parse((await response.text()) || 'null')
    },
  }
}

/** A test in the browser: on a server of its own, and without complaints of the pages. */
function test(title: string, body: (t: ExecutionContext, stage: Stage) => Promise<void>): void {
  const declare = hasBrowser && isInstalled ? ava.serial : ava.serial.skip
  declare(title, async (t) => {
    t.timeout(300_000)
    const stage = await openStage(t)
    await body(t, stage)
    t.deepEqual(stage.faults, [], 'a page complains')
  })
}

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: false }).first().fill(password)
  await button(page, 'Sign in').click()
}

function button(within: Page | Locator, name: string | RegExp): Locator {
  return within.getByRole('button', { name })
}

function row(page: Page, text: string): Locator {
  return page.getByRole('row').filter({ hasText: text })
}

/** Goes to another place of the application, which stays loaded. */
async function go(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = '#${place}'`)
}

function requestsOf(page: Page, wanted: (request: Request) => boolean): Request[] {
  const requests: Request[] = []
  page.on('request', (request) => {
    if (wanted(request)) requests.push(request)
  })
  return requests
}

test("the page's types hold", async (t) => {
  const run = promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', SOURCE])
  t.is((await run.catch((error: { stdout: string }) => error)).stdout, '')
})

// ---------------------------------------------------------------- who

test('who signs in wrongly is told so, and what somebody may not see is not there', async (t, { visit, open }) => {
  const page = await visit()
  await signIn(page, 'ada', 'wrong')
  await page.getByText('The user name or the password is wrong.').waitFor()
  await signIn(page, 'mara', PASSWORDS.get('mara') ?? '')
  await page.getByText('Ewa').first().waitFor()

  await go(page, '/employees')
  await row(page, 'Erin Eriksen').getByText('5,200').waitFor()
  t.is(await page.getByText('Gus Grau').count(), 0, 'of another tenant')

  const employee = await open('erin')
  await go(employee, '/employees')
  await row(employee, 'Ada Adamska').waitFor()
  t.is(await employee.getByText('6,400').count(), 0)
  await go(employee, '/products/1')
  await employee.getByLabel('Name').fill('Mine')
  await button(employee, 'Save').click()
  await employee.getByText('Forbidden').first().waitFor()
  t.is((await Product.findByPk(1))?.name, 'Net')
})

test('the accounts of the example are shown, and one click signs in', async (t, { visit }) => {
  const page = await visit()
  for (const { username, password, role, tenant } of ACCOUNTS) {
    t.is(await button(page, `${username} / ${password}`).innerText(), `${username} / ${password}\n${role} of ${tenant}`)
  }
  await button(page, 'mara').click()
  await row(page, 'Ewa').waitFor()
})

// ---------------------------------------------------------------- lists

test('there are 200 orders to go through', async (_t, { open }) => {
  const page = await open('erin')
  await page.getByText('1-10 of 200').waitFor()
  await button(page, 'Go to page 20').click()
  await page.getByText('191-200 of 200').waitFor()
})

test('lists are searched, filtered and sorted by the server', async (t, { open }) => {
  const page = await open('ada')
  await page.getByPlaceholder('Search').fill('ja')
  await row(page, 'Ewa').waitFor({ state: 'hidden' })
  await row(page, 'Jan').waitFor()
  await page.getByPlaceholder('Search').fill('')
  await row(page, 'Ewa').waitFor()

  await button(page, 'Add filter').click()
  await page
    .getByRole('menuitemcheckbox', { name: 'Status' })
    .or(page.getByRole('menuitem', { name: 'Status' }))
    .click()
  await page.getByRole('combobox', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Paid' }).click()
  await row(page, 'Jan').waitFor({ state: 'hidden' })
  await row(page, 'Ewa').waitFor()

  await go(page, '/products')
  await row(page, 'Net').waitFor()
  const names = async () => (await page.locator('tbody tr td:nth-child(3)').allTextContents()).join()
  t.is(await names(), 'Basketball, size 7,Hoop with backboard,Net,Shoes, size 46')
  await button(page, 'Price').click()
  await page.locator('tbody tr').first().getByText('Net', { exact: true }).waitFor()
  t.is(await names(), 'Net,Basketball, size 7,Shoes, size 46,Hoop with backboard')
})

test('a list shows what others write while it is looked at', async (_t, { open, api }) => {
  const page = await open('erin')
  const { id } = await api('POST', '/orders', { customerId: 1, status: 'Sent', lines: [] })
  const sent = row(page, 'Ewa').filter({ hasText: 'Sent' })
  await sent.waitFor()
  await api('PATCH', `/orders/${id}`, { status: 'Paid' })
  await sent.waitFor({ state: 'hidden' })
  await api('DELETE', `/orders/${id}`)
  await page.getByText('1-10 of 200').waitFor()
})

// ---------------------------------------------------------------- forms

test('an order is saved with its lines by one request, and what is wrong is said at its input', async (t, { open }) => {
  const page = await open('ada')
  const writes = requestsOf(
    page,
    (request) => ['POST', 'PATCH'].includes(request.method()) && /\/api\//.test(request.url()),
  )
  await row(page, 'Ewa').click()
  await page.getByLabel('Quantity').first().fill('0')
  await button(page, 'Save').click()
  await page.getByText('must be at least 1.', { exact: true }).waitFor()
  await page.getByLabel('Quantity').first().fill('7')

  await button(page, 'Add').last().click()
  await page.getByRole('combobox', { name: 'Product' }).nth(2).fill('shoes')
  await page.getByRole('option', { name: 'Shoes, size 46' }).click()
  await page.getByLabel('Quantity').nth(2).fill('2')
  await button(page, 'Remove').nth(1).click()
  await button(page, 'Save').click()
  await row(page, 'Ewa').waitFor()
  t.deepEqual(
    writes.map((request) => [request.method(), new URL(request.url()).pathname]),
    [
      ['PATCH', '/api/orders/1'],
      ['PATCH', '/api/orders/1'],
    ],
  )
  t.deepEqual(Object.keys(writes[1]?.postDataJSON()), ['lines'], 'what differs')
  const lines = await OrderLine.findAll({ where: { orderId: 1 }, order: ['id'] })
  t.deepEqual(
    lines.map(({ id, productId, quantity }) => [id === 1, productId, quantity]),
    [
      [true, 1, 7],
      [false, 3, 2],
    ],
  )

  await go(page, '/orders/create')
  await page.getByRole('combobox', { name: 'Customer' }).fill('jan')
  await page.getByRole('option', { name: 'Jan' }).click()
  await button(page, 'Add').last().click()
  await page.getByRole('combobox', { name: 'Product' }).first().fill('net')
  await page.getByRole('option', { name: 'Net', exact: true }).click()
  await button(page, 'Save').click()
  await page.getByText('1-10 of 201').waitFor()
  t.is(await OrderLine.count({ where: { orderId: 201 } }), 1)
})

test('who saves what somebody else has changed meanwhile sees both, and decides', async (t, { open, api }) => {
  const page = await open('ada')
  const news = page.getByText('Somebody has just changed this record.')
  const conflict = page.getByRole('dialog', { name: 'Somebody else has changed this record' })
  const choose = async (status: string) => {
    await page.getByLabel('Status').click()
    await page.getByRole('option', { name: status }).click()
  }
  const status = async () => (await Order.findByPk(1))?.status

  await row(page, 'Ewa').click()
  await choose('Sent')
  await api('PATCH', '/orders/1', { status: 'Open' })
  await news.waitFor()
  await button(page, 'Save').click()
  await conflict.waitFor()
  t.deepEqual(await conflict.locator('tbody td').allTextContents(), ['status', 'Sent', 'Open'])
  await button(conflict, 'Take theirs').click()
  await news.waitFor({ state: 'hidden' })
  await page.getByRole('combobox', { name: 'Status' }).getByText('Open').waitFor()
  t.is(await status(), 'Open')

  await choose('Paid')
  await api('PATCH', '/orders/1', { customerId: 2 })
  await news.waitFor()
  await button(page, 'Save').click()
  await button(conflict, 'Save mine').click()
  await page.getByText('1-10 of 200').waitFor()
  const saved = await Order.findByPk(1)
  t.deepEqual([saved?.status, saved?.customerId], ['Paid', 2], 'what the other one changed stays')
})

test('tags are linked and unlinked by their routes, without the form', async (t, { open }) => {
  const page = await open('mara')
  await go(page, '/products/2')
  await page.locator('[aria-pressed=true]').nth(1).waitFor()
  const writes = requestsOf(page, (request) => request.method() !== 'GET')
  await button(page, 'sale').click()
  await page.locator('[aria-pressed=true]', { hasText: 'sale' }).waitFor()
  await button(page, 'court').click()
  await page.locator('[aria-pressed=false]', { hasText: 'court' }).waitFor()
  t.deepEqual(
    writes.map((request) => `${request.method()} ${new URL(request.url()).pathname}`),
    ['PUT /api/products/2/tags/3', 'DELETE /api/products/2/tags/1'],
  )
  const links = await ProductTag.findAll({ where: { productId: 2 }, order: ['tagId'] })
  t.deepEqual(
    links.map(({ tagId }) => tagId),
    [2, 3],
  )
})

// ---------------------------------------------------------------- sizes

/** By how many pixels the page is wider than its window, once it had time to fit into one that was resized. */
async function excessOf(page: Page): Promise<number> {
  const deadline = Date.now() + 5_000
  for (;;) {
    const excess = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    if (excess <= 0 || Date.now() > deadline) return excess
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`in ${colorScheme} colours everything fits into small and large windows`, async (t, { open }) => {
    const page = await open('ada', { colorScheme })
    for (const width of [400, 1400]) {
      await page.setViewportSize({ width, height: 900 })
      for (const place of ['/orders', '/orders/1', '/products/2', '/customers/1', '/employees', '/orders/create']) {
        await go(page, place)
        await page.getByRole('progressbar').waitFor({ state: 'hidden' })
        t.true((await excessOf(page)) <= 0, `${place} at ${width}: ${await excessOf(page)} pixels too wide`)
      }
    }
    const [, red] =
      /^rgb\((\d+)/.exec(String(await page.evaluate('getComputedStyle(document.body).backgroundColor'))) ?? []
    t.is(Number(red) > 128, colorScheme === 'light')
  })
}

// ---------------------------------------------------------------- the help desk

test('the page of the help desk shows a member the tickets of her team, and closes one', async (t, { faults }) => {
  const server = await serve(desk(folder), 0)
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, locale: 'en-GB' })
  t.teardown(async () => {
    await context.close()
    await server.close()
  })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  page.on('pageerror', (error) => faults.push(String(error.stack)))
  await page.goto(`http://localhost:${server.port}`)
  await button(page, /^mia/).click()
  await row(page, 'No network in room 12').waitFor()
  t.is(await row(page, 'October').count(), 0)
  await row(page, 'No network in room 12').getByText('Network', { exact: true }).click()
  await page.getByText('that one is dead as well').waitFor()
  await button(page, 'Close this ticket').click()
  await button(page, 'Confirm').click()
  await page.getByText('Closed by the desk.').waitFor()
  await button(page, 'Close this ticket').waitFor({ state: 'hidden' })
  t.is((await Ticket.findByPk(1))?.status, 'closed')
})
