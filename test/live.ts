// The board of `npm run example live`, used by one or two people in a browser.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import ava, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContextOptions, Locator, Page, Request, Route } from 'playwright-core'
import { Sequelize } from 'sequelize'
import { io } from 'socket.io-client'
import { driver } from '../examples/driver.js'
import { live } from '../examples/live/app.js'
import { Order } from '../examples/live/models.js'
import { type ExampleServer, serve } from '../examples/server.js'
import { hasBrowser, launch } from './support/browser.js'
import { root } from './support/program.js'
import { openTcpProxy, type TcpProxy } from './support/wire.js'

let browser: Browser

ava.before(async () => {
  if (hasBrowser) browser = await launch()
})

ava.after.always(async () => {
  await browser?.close()
})

interface Stage {
  readonly wire: TcpProxy
  /** The server behind the wire; another one after `restart`. */
  readonly server: () => ExampleServer
  readonly restart: () => Promise<void>
  /** Opens the board as another person and waits until it is there. */
  readonly open: (options?: BrowserContextOptions) => Promise<Page>
  /** The same, without waiting. `prepare` sees the page before it is loaded. */
  readonly visit: (prepare: (page: Page) => Promise<void>, options?: BrowserContextOptions) => Promise<Page>
  /** What a third person does. */
  readonly api: (method: string, path: string, body?: unknown) => Promise<OrderBody>
  /** What the pages complained of, violations of their security policy included. Nothing may be left at the end. */
  readonly faults: string[]
}

interface OrderBody {
  readonly id: number
  readonly product: string
  readonly total: number | null
  readonly status: string
  readonly rowVersion: number
}

/** What the browser itself says of answers that are no success, and of connections that end. */
const KNOWN = /^Failed to load resource: |^WebSocket connection to /

/**
 * Waits for the packet that ends the upgrade of a page's next connection from polling to WebSocket. A client that loses
 * its connection in the middle of an upgrade may notice it only by missing pings, which takes 45 seconds.
 */
async function nextUpgrade(page: Page): Promise<void> {
  const socket = await page.waitForEvent('websocket')
  await socket.waitForEvent('framesent', ({ payload }) => payload === '5')
}

async function openStage(t: ExecutionContext): Promise<Stage> {
  let server = await serve(live(), 0)
  const wire = await openTcpProxy(server.port)
  const faults: string[] = []
  const pages: Page[] = []

  async function visit(prepare: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options })
    const page = await context.newPage()
    pages.push(page)
    page.on('pageerror', (error) => faults.push(String(error.stack)))
    page.on('console', (message) => {
      if (!KNOWN.test(message.text())) faults.push(`${message.type()}: ${message.text()}`)
    })
    await page.addInitScript({ path: join(root, 'test/support/audit.js') })
    await prepare(page)
    await page.goto(`http://localhost:${wire.port}/`)
    return page
  }

  t.teardown(async () => {
    await Promise.all(pages.map((page) => page.context().close()))
    await wire.close()
    await server.close()
  })

  return {
    wire,
    faults,
    visit,
    server: () => server,
    restart: async () => {
      await server.close()
      server = await serve(live(), 0)
      wire.lead(server.port)
    },
    open: async (options) => {
      let upgraded: Promise<unknown> = Promise.resolve()
      const page = await visit(async (opened) => {
        upgraded = nextUpgrade(opened)
      }, options)
      await page.locator('#connection', { hasText: 'Live' }).waitFor()
      await page.locator('#board[aria-busy=false]').waitFor()
      await upgraded
      return page
    },
    api: async (method, path, body) => {
      const response = await fetch(`http://localhost:${server.port}/api/orders${path}`, {
        method,
        headers: { 'Content-Type': 'application/json', 'If-Match': '*' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      t.true(response.ok, `${method} ${path}: ${response.status}`)
      return JSON.parse((await response.text()) || 'null')
    },
  }
}

/** A test in the browser: on a server of its own, and without complaints of the pages. */
function test(title: string, body: (t: ExecutionContext, stage: Stage) => Promise<void>): void {
  const declare = hasBrowser ? ava.serial : ava.serial.skip
  declare(title, async (t) => {
    const stage = await openStage(t)
    await body(t, stage)
    t.deepEqual(stage.faults, [], 'a page complains')
  })
}

/**
 * Does something between two statements on the server's database. What fails meanwhile the server says on the console.
 */
async function between<T>(
  t: ExecutionContext,
  { server }: Stage,
  [before, after]: readonly [string, string],
  work: () => Promise<T>,
): Promise<T> {
  const { error } = console
  console.error = () => undefined
  t.teardown(() => {
    console.error = error
  })
  const other = new Sequelize({
    dialect: 'sqlite',
    storage: server().storage,
    logging: false,
    // Of the same driver: the server may run in this process.
    ...(driver === undefined ? {} : { dialectModule: driver }),
  })
  await other.query(before)
  try {
    return await work()
  } finally {
    await other.query(after)
    await other.close()
  }
}

/** While another program writes: reading goes on, since the journal is a write-ahead log. */
function withLocked<T>(t: ExecutionContext, stage: Stage, work: () => Promise<T>): Promise<T> {
  return between(t, stage, ['BEGIN IMMEDIATE', 'COMMIT'], work)
}

/** While the database cannot even be read. */
function withoutTable<T>(t: ExecutionContext, stage: Stage, work: () => Promise<T>): Promise<T> {
  return between(t, stage, ['ALTER TABLE orders RENAME TO elsewhere', 'ALTER TABLE elsewhere RENAME TO orders'], work)
}

// ---------------------------------------------------------------- what a person sees

/** The card of an order, in one column or in any. */
function card(page: Page, product: string, status?: string): Locator {
  const within = status === undefined ? page.getByRole('main') : page.getByRole('region', { name: status })
  return within.getByRole('article', { name: product, exact: true })
}

function button(within: Page | Locator, name: string): Locator {
  return within.getByRole('button', { name, exact: true })
}

function dialog(page: Page, name: string | RegExp): Locator {
  return page.getByRole('dialog', { name })
}

async function openEditor(page: Page, product: string): Promise<Locator> {
  await button(page, `Edit ${product}`).click()
  const editor = dialog(page, /Edit order/)
  await editor.waitFor()
  return editor
}

/** What a property of an element's style comes to. */
function style(locator: Locator, property: string): Promise<unknown> {
  return locator.evaluate((element, name) => Reflect.get(globalThis, 'getComputedStyle')(element)[name], property)
}

async function gone(locator: Locator): Promise<void> {
  await locator.waitFor({ state: 'hidden' })
}

async function news(page: Page, text: string): Promise<void> {
  await page.locator('#news', { hasText: text }).waitFor()
}

/**
 * Waits until what a page says is so. What comes of a request may show twice, by the event and then by the answer, in
 * either order: whatever only one of them does is waited for.
 */
async function becomes<T>(t: ExecutionContext, read: () => Promise<T>, expected: T, message?: string): Promise<void> {
  const end = Date.now() + 10_000
  let value = await read()
  while (!isDeepStrictEqual(value, expected) && Date.now() < end) {
    await setTimeout(20)
    value = await read()
  }
  t.deepEqual(value, expected, message)
}

/** The rows of the conflict that is shown: field, left and right. */
async function comparison(page: Page): Promise<string[][]> {
  const rows = await page.locator('#conflict tr').all()
  return Promise.all(rows.map((row) => row.locator('th, td').allTextContents()))
}

/** The accessible name of what has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const { ariaLabel, labels, localName, textContent } = document.activeElement
    return localName === 'body' ? 'nothing' : ariaLabel ?? labels?.[0]?.textContent ?? textContent.trim().replace(/\\s+/g, ' ')
  })()`)
}

function isList(request: Request): boolean {
  return request.method() === 'GET' && request.url().includes('/api/orders?')
}

function requestsOf(page: Page, isWanted: (request: Request) => boolean): Request[] {
  const seen: Request[] = []
  page.on('request', (request) => {
    if (isWanted(request)) seen.push(request)
  })
  return seen
}

// ---------------------------------------------------------------- two windows

test('what one person adds, edits, moves and deletes shows to the other without a reload', async (t, { open }) => {
  const ann = await open()
  const bob = await open()
  const lists = requestsOf(bob, isList)
  await bob.evaluate('window.isSame = true')

  await ann.getByLabel('Product').first().fill('Towel')
  await ann.getByLabel('Total').first().fill('9,9')
  await button(ann, 'Add order').click()
  await card(bob, 'Towel', 'Pending').getByText('€9.90').waitFor()
  await news(bob, 'Added: Towel.')
  await card(ann, 'Towel', 'Pending').waitFor()
  await becomes(t, () => focused(ann), 'Product')
  t.is(await ann.getByLabel('Product').first().inputValue(), '')
  t.is(await card(ann, 'Towel').count(), 1)

  const editor = await openEditor(ann, 'Towel')
  await editor.getByLabel('Product').fill('Towel, large')
  await editor.getByLabel('Total').fill('')
  await button(editor, 'Save').click()
  await gone(editor)
  await card(bob, 'Towel, large', 'Pending').getByText('No total').waitFor()
  await news(bob, 'Changed: Towel, large.')

  await ann.getByLabel('Status of Towel, large').selectOption('Shipped')
  await card(bob, 'Towel, large', 'Shipped').waitFor()
  await news(bob, 'Towel, large is now Shipped.')
  t.is(await card(bob, 'Towel, large').count(), 1)
  t.is(await bob.getByRole('region', { name: 'Shipped' }).getByRole('heading').first().textContent(), 'Shipped 3')

  await button(ann, 'Delete Towel, large').click()
  await button(ann.getByRole('alertdialog'), 'Cancel').click()
  t.is(await card(ann, 'Towel, large').count(), 1)
  await button(ann, 'Delete Towel, large').click()
  await button(ann.getByRole('alertdialog'), 'Delete').click()
  await gone(card(bob, 'Towel, large'))
  await news(bob, 'Deleted: Towel, large.')
  await gone(card(ann, 'Towel, large'))

  t.is(lists.length, 0)
  t.true(await bob.evaluate('window.isSame'))
})

test('saving sends the fields that were changed, with the version they are based on', async (t, { open, api }) => {
  const page = await open()
  const writes = requestsOf(page, (request) => request.method() === 'PATCH')
  await api('PATCH', '/6', { total: 13 })
  await card(page, 'Net').getByText('€13.00').waitFor()

  const editor = await openEditor(page, 'Net')
  await button(editor, 'Save').click()
  await gone(editor)
  t.is(writes.length, 0, 'nothing was changed')

  await openEditor(page, 'Net')
  await editor.getByLabel('Total').fill('')
  await button(editor, 'Save').click()
  await gone(editor)
  t.deepEqual(
    writes.map((request) => [request.postDataJSON(), request.headers()['if-match']]),
    [[{ total: null }, 'W/"1"']],
  )
})

test('what happens while the list is on its way is on the board', async (t, { visit, api }) => {
  const page = await visit(async (fresh) => {
    await fresh.route(isListUrl, async (route) => {
      const old = await route.fetch()
      const { id } = await api('POST', '', { product: 'Late' })
      await api('PATCH', '/6', { total: 77 })
      await api('DELETE', '/7')
      await api('PATCH', `/${id}`, { status: 'Delivered' })
      // The events are there before the list that knows nothing of them.
      await card(fresh, 'Late', 'Delivered').waitFor()
      await route.fulfill({ response: old })
    })
  })
  await card(page, 'Whistle').waitFor()
  await card(page, 'Late', 'Delivered').waitFor()
  await card(page, 'Net').getByText('€77.00').waitFor()
  t.is(await card(page, 'Scoreboard').count(), 0)
  t.is(await page.getByRole('article').count(), 8)
})

function isListUrl({ pathname, search }: URL): boolean {
  return pathname === '/api/orders' && search !== ''
}

test('a visitor is told to open a second window, and one click does it', async (t, { open }) => {
  const page = await open()
  await page.getByText('Open this page in a second window: what you do in one shows in the other at once.').waitFor()
  const [second] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'second window' }).click(),
  ])
  await card(second, 'Net', 'Pending').waitFor()
  await second.locator('#connection', { hasText: 'Live' }).waitFor()
  await page.getByLabel('Status of Net').selectOption('Shipped')
  await card(second, 'Net', 'Shipped').waitFor()
  t.is(second.url(), page.url())
  t.is(await second.evaluate('opener'), null)
})

// ---------------------------------------------------------------- conflicts

test('whoever edits an order that somebody else has changed may take theirs', async (t, { open, api }) => {
  const page = await open()
  const editor = await openEditor(page, 'Net')
  await editor.getByLabel('Product').fill('Net, white')
  await api('PATCH', '/6', { product: 'Net, red', status: 'Shipped' })
  await editor.getByText('Somebody else has changed this order meanwhile.').waitFor()
  t.is(await editor.getByLabel('Product').inputValue(), 'Net, white')

  await button(editor, 'Save').click()
  const conflict = dialog(page, 'Somebody else changed this order')
  await conflict.waitFor()
  t.deepEqual(await comparison(page), [
    ['', 'Yours', 'Theirs'],
    ['Product', 'Net, white', 'Net, red'],
    ['Total', '€12.50', '€12.50'],
    ['Status', 'Shipped', 'Shipped'],
  ])
  t.deepEqual(await conflict.locator('mark').allTextContents(), ['Net, white', 'Net, red'])

  await button(conflict, 'Take theirs').click()
  await gone(conflict)
  await gone(editor)
  await card(page, 'Net, red', 'Shipped').waitFor()
  t.like(await api('GET', '/6'), { product: 'Net, red', rowVersion: 1 })
  t.is(await focused(page), 'Edit Net, red')
})

test('whoever edits an order that others keep changing may save on top, once they have seen the latest', async (t, {
  open,
  api,
}) => {
  const page = await open()
  const editor = await openEditor(page, 'Net')
  await editor.getByLabel('Total').fill('20')
  await api('PATCH', '/6', { total: 15 })
  await button(editor, 'Save').click()
  const conflict = dialog(page, 'Somebody else changed this order')
  await conflict.waitFor()
  t.deepEqual((await comparison(page))[2], ['Total', '€20.00', '€15.00'])

  await api('PATCH', '/6', { total: 16, product: 'Net, green' })
  await button(conflict, 'Save mine').click()
  await conflict.getByRole('cell', { name: '€16.00' }).waitFor()
  t.deepEqual((await comparison(page)).slice(1, 3), [
    ['Product', 'Net, green', 'Net, green'],
    ['Total', '€20.00', '€16.00'],
  ])

  await button(conflict, 'Save mine').click()
  await gone(editor)
  await card(page, 'Net, green').getByText('€20.00').waitFor()
  t.like(await api('GET', '/6'), { product: 'Net, green', total: 20, rowVersion: 3 })
})

test('a conflict may be left for the editor, with what was entered, and one about nothing is none', async (t, {
  open,
  api,
}) => {
  const page = await open()
  const editor = await openEditor(page, 'Net')
  await editor.getByLabel('Product').fill('Net, white')
  await api('PATCH', '/6', { total: 15 })
  await button(editor, 'Save').click()
  const conflict = dialog(page, 'Somebody else changed this order')
  await conflict.waitFor()
  t.false(await editor.isVisible(), 'one dialog at a time')
  await page.keyboard.press('Escape')
  await gone(conflict)
  t.true(await editor.isVisible())
  t.is(await editor.getByLabel('Product').inputValue(), 'Net, white')

  await api('PATCH', '/6', { product: 'Net, white' })
  await button(editor, 'Save').click()
  await gone(editor)
  t.false(await conflict.isVisible())
  t.like(await api('GET', '/6'), { product: 'Net, white', total: 15, rowVersion: 2 })
})

test('moving and deleting an order that somebody else has changed ask as well', async (t, { wire, open, api }) => {
  const page = await open()
  // This window hears of nothing any more, but its requests get through.
  await page.route(/socket\.io/, (route) => route.abort())
  wire.cut()
  await page.locator('#connection', { hasText: 'Reconnecting' }).waitFor()
  wire.mend()
  await api('PATCH', '/6', { total: 15 })
  await page.getByLabel('Status of Net').selectOption('Cancelled')
  const conflict = dialog(page, 'Somebody else changed this order')
  await conflict.waitFor()
  t.deepEqual((await comparison(page)).slice(2), [
    ['Total', '€15.00', '€15.00'],
    ['Status', 'Cancelled', 'Pending'],
  ])
  await button(conflict, 'Cancel').click()
  await becomes(t, () => page.getByLabel('Status of Net').inputValue(), 'Pending')
  await card(page, 'Net', 'Pending').getByText('€15.00').waitFor()

  await api('PATCH', '/6', { total: 16 })
  await button(page, 'Delete Net').click()
  await button(page.getByRole('alertdialog'), 'Delete').click()
  await conflict.waitFor()
  t.deepEqual((await comparison(page)).slice(0, 3), [
    ['', 'Before', 'Now'],
    ['Product', 'Net', 'Net'],
    ['Total', '€15.00', '€16.00'],
  ])
  await button(conflict, 'Keep it').click()
  await card(page, 'Net').getByText('€16.00').waitFor()

  await api('PATCH', '/6', { total: 17 })
  await button(page, 'Delete Net').click()
  await button(page.getByRole('alertdialog'), 'Delete').click()
  await button(conflict, 'Delete all the same').click()
  await gone(card(page, 'Net'))
  const list = await fetch(`http://localhost:${wire.port}/api/orders?product=Net&count=true`)
  t.deepEqual(await list.json(), { count: 0 })
})

test('what was entered outlives the order that somebody else deletes', async (t, { open, api }) => {
  const page = await open()
  const editor = await openEditor(page, 'Net')
  await editor.getByLabel('Product').fill('Net, white')
  await editor.getByLabel('Status').selectOption('Shipped')
  await api('DELETE', '/6')
  await editor.getByText('Somebody else has deleted this order').waitFor()
  await button(editor, 'Save').click()

  const left = dialog(page, 'This order is gone')
  await left.getByText('What you have entered is still here').waitFor()
  t.is(await focused(page), 'Add as a new order')
  await left.getByLabel('Product').fill('')
  await button(left, 'Add as a new order').click()
  await left.getByText('Product must be between 1 and 100 characters.').waitFor()
  await left.getByLabel('Product').fill('Net, black')
  await button(left, 'Add as a new order').click()
  await gone(left)
  await card(page, 'Net, black', 'Shipped').getByText('€12.50').waitFor()
  t.is(await card(page, 'Net').count(), 0)

  // The next editor is an ordinary one again.
  await openEditor(page, 'Net, black')
  t.true(await button(editor, 'Save').isVisible())
})

// ---------------------------------------------------------------- what is wrong

for (const [place, prepare, submit] of [
  ['of a new order', async (page: Page) => page.locator('#add'), 'Add order'],
  ['of the editor', (page: Page) => openEditor(page, 'Net'), 'Save'],
] as const) {
  test(`the messages ${place} are at their fields, and the focus on the first`, async (t, { open }) => {
    const page = await open()
    const form = await prepare(page)
    const product = form.getByLabel('Product')
    const total = form.getByLabel('Total')
    await product.fill('   ')
    await total.fill('-1.2345')
    await button(form, submit).click()
    await form.getByText('Product must be between 1 and 100 characters.').waitFor()
    t.is(await focused(page), 'Product')
    for (const [field, message] of [
      [product, 'Product must be between 1 and 100 characters.'],
      [total, 'Total must have at most 2 decimal places. Total must be at least 0.'],
    ] as const) {
      t.is(await field.getAttribute('aria-invalid'), 'true')
      const id = await field.getAttribute('aria-describedby')
      t.is(await page.locator(`#${id}`).textContent(), message)
    }

    await product.fill('Flag')
    t.is(await product.getAttribute('aria-invalid'), null)
    await total.fill('twelve')
    await button(form, submit).click()
    await form.getByText('Total must be a number.').waitFor()
    t.is(await focused(page), 'Total in €')
    await total.fill('12')
    await total.press('Enter')
    await card(page, 'Flag').getByText('€12.00').waitFor()
    t.is(await page.locator('[aria-invalid]').count(), 0)
    t.is(await page.getByRole('alert').count(), 0)
  })
}

test('an amount is read as the page writes it, and never guessed', async (t, { open, api }) => {
  const page = await open()
  await card(page, 'Scoreboard').getByText('€1,890.00', { exact: true }).waitFor()
  const writes = requestsOf(page, (request) => request.method() === 'PATCH')
  const editor = await openEditor(page, 'Scoreboard')
  const total = editor.getByLabel('Total')
  t.is(await total.inputValue(), '1,890.00')

  for (const [text, message] of [
    ['1.890', 'Total is not clear: write 1,890.00, or at most two digits after the point.'],
    ['€ 999.000', 'Total is not clear: write 999,000.00, or at most two digits after the point.'],
    ...['1,89,0', '12,3456', '1.890,00', '1 890', '1,890,5', '0,890', '1,2.3', '.', '5,'].map(
      (text) => [text, 'Total is not clear: write it like 1,890.00.'] as const,
    ),
  ] as const) {
    await total.fill(text)
    await button(editor, 'Save').click()
    await editor.getByText(message, { exact: true }).waitFor()
    t.is(await focused(page), 'Total in €', text)
    t.is(await total.inputValue(), text)
  }
  t.is(writes.length, 0)
  await total.fill('1,890')
  await button(editor, 'Save').click()
  await gone(editor)
  t.is(writes.length, 0, 'it is what the order has')

  for (const [text, amount, shown] of [
    ['2,345,678.9', 2_345_678.9, '€2,345,678.90'],
    ['9,5', 9.5, '€9.50'],
    ['€1,234.50', 1234.5, '€1,234.50'],
    ['12,34 EUR', 12.34, '€12.34'],
    ['1890', 1890, '€1,890.00'],
    ['0.5', 0.5, '€0.50'],
  ] as const) {
    await openEditor(page, 'Scoreboard')
    await total.fill(text)
    await total.press('Enter')
    await gone(editor)
    await card(page, 'Scoreboard').getByText(shown, { exact: true }).waitFor()
    t.is((await api('GET', '/7')).total, amount, text)
  }

  const add = page.locator('#add')
  await add.getByLabel('Product').fill('Flag')
  await add.getByLabel('Total').fill('1.234')
  await button(add, 'Add order').click()
  await add.getByText('Total is not clear: write 1,234.00, or at most two digits after the point.').waitFor()
  t.is(await card(page, 'Flag').count(), 0)
})

test('a failure stays until it is dismissed, or until trying again helps', async (t, stage) => {
  const { open, api } = stage
  const page = await open()
  const context = page.context()
  const alert = page.getByRole('alert')

  await context.setOffline(true)
  await page.getByLabel('Status of Net').selectOption('Shipped')
  await alert.getByText('Net was not moved. The server does not answer.').waitFor()
  t.is(await page.getByLabel('Status of Net').inputValue(), 'Pending')
  await context.setOffline(false)
  await button(page, 'Try again').click()
  await card(page, 'Net', 'Shipped').waitFor()
  await gone(alert)

  await context.setOffline(true)
  await page.getByLabel('Product').first().fill('Flag')
  await button(page, 'Add order').click()
  await alert.getByText('Whether the order was added is not known').waitFor()
  await button(page, 'Dismiss').focus()
  await page.keyboard.press('Enter')
  await gone(alert)
  t.is(await focused(page), 'Add order')
  t.is(await page.getByLabel('Product').first().inputValue(), 'Flag')
  await context.setOffline(false)

  const editor = await openEditor(page, 'Net')
  await editor.getByLabel('Total').fill('20')
  await withLocked(t, stage, async () => {
    // Closing the editor before the answer does not hide what comes of it.
    const held = async (route: Route): Promise<void> => {
      await gone(editor)
      await route.continue()
    }
    await page.route('**/api/orders/6', held, { times: 1 })
    await button(editor, 'Save').click()
    await page.keyboard.press('Escape')
    await editor.getByRole('alert').getByText('Service Unavailable').waitFor()
  })
  await button(editor, 'Try again').click()
  await gone(editor)
  t.like(await api('GET', '/6'), { total: 20, status: 'Shipped' })
})

test('a list that fails is told, and loaded when somebody tries again', async (t, stage) => {
  const page = await withoutTable(t, stage, async () => {
    const fresh = await stage.visit(async () => undefined)
    await fresh.getByRole('alert').getByText('The orders could not be loaded.').waitFor()
    return fresh
  })
  await button(page, 'Try again').click()
  await card(page, 'Net').waitFor()
  t.is(await page.getByRole('alert').count(), 0)
})

// ---------------------------------------------------------------- connections

test('a connection that comes back in time has missed nothing, and lists nothing again', async (t, {
  wire,
  open,
  api,
}) => {
  const page = await open()
  await api('PATCH', '/6', { total: 13 })
  await card(page, 'Net').getByText('€13.00').waitFor()
  const lists = requestsOf(page, isList)
  wire.cut()
  await page.locator('#connection', { hasText: 'Reconnecting' }).waitFor()
  await api('POST', '', { product: 'Meanwhile' })
  await api('DELETE', '/6')
  wire.mend()
  await card(page, 'Meanwhile').waitFor()
  await gone(card(page, 'Net'))
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  t.is(lists.length, 0)
})

test('while the server does not answer the board says that it stands still, and since when', async (t, {
  wire,
  open,
  api,
}) => {
  const page = await open()
  const banner = page.locator('#outage')
  t.false(await banner.isVisible())
  t.is(await style(page.locator('#board'), 'filter'), 'none')
  wire.cut()
  await banner.getByText(/^The server has not answered since \d\d:\d\d\. .* as they were then/).waitFor()
  t.is(await banner.getAttribute('role'), 'status')
  t.not(await style(page.locator('#board'), 'filter'), 'none')
  t.true(await page.evaluate<boolean>('outage.getBoundingClientRect().top >= 0'))
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  t.true(await page.evaluate<boolean>('outage.getBoundingClientRect().top >= 0'), 'it stays in view')
  await api('POST', '', { product: 'Meanwhile' })
  wire.mend()
  await gone(banner)
  await card(page, 'Meanwhile').waitFor()
  t.is(await style(page.locator('#board'), 'filter'), 'none')
})

test('a connection that is back within a moment changes nothing but the badge', async (t, { wire, open }) => {
  const page = await open()
  await page.evaluate(`globalThis.wasShown = false
    globalThis.lost = 0
    globalThis.away = 0
    new MutationObserver(() => { wasShown = true }).observe(outage, { childList: true })
    new MutationObserver(() => {
      if (connection.dataset.state !== 'live') return void (lost ||= performance.now())
      away = performance.now() - lost
      lost = 0
    }).observe(connection, { attributes: true, attributeFilter: ['data-state'] }); 'watching'`)
  // A machine that is busy may take longer than a moment to be back.
  let isMoment = false
  for (let attempt = 0; attempt < 8 && !isMoment; attempt += 1) {
    await page.evaluate('wasShown = false')
    const upgraded = nextUpgrade(page)
    wire.cut()
    await page.locator('#connection', { hasText: 'Reconnecting' }).waitFor()
    wire.mend()
    await page.locator('#connection', { hasText: 'Live' }).waitFor()
    await upgraded
    isMoment = (await page.evaluate<number>('away')) < 1400
  }
  t.true(isMoment)
  t.false(await page.evaluate<boolean>('wasShown'))
})

test('after a restart of the server the board is listed again', async (t, { restart, open, api }) => {
  const page = await open()
  const { id } = await api('POST', '', { product: 'Of the old server' })
  await api('DELETE', '/8')
  await api('PATCH', '/6', { product: 'Net of the old server' })
  await card(page, 'Net of the old server').waitFor()
  await button(page, 'Edit Of the old server').focus()
  await restart()
  // The new one begins with the same orders again, with lower versions.
  await card(page, 'Net').waitFor()
  await card(page, 'Tickets for the final').waitFor()
  t.is(await card(page, 'Of the old server').count(), 0)
  t.is(await page.getByRole('article').count(), 8)
  t.not(await focused(page), 'nothing')
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  const { id: again } = await api('POST', '', { product: 'Of the new server' })
  t.is(again, id)
  await card(page, 'Of the new server').waitFor()
})

// ---------------------------------------------------------------- keyboard

test('everything can be done by keyboard, and the focus is always to be seen', async (t, { open, api }) => {
  const page = await open()
  const press = async (...keys: string[]): Promise<string> => {
    for (const key of keys) await page.keyboard.press(key)
    const name = await focused(page)
    const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
    t.is(outline, 'solid', `no outline: ${name}`)
    return name
  }

  t.is(await press('Tab'), 'second window')
  t.is(await press('Tab'), 'Pending 3')
  t.is(await press('Tab', 'Tab', 'Tab'), 'Cancelled 1')
  t.is(await press('Tab'), 'Product')
  await page.keyboard.type('Flag')
  t.is(await press('Tab'), 'Total in €')
  await page.keyboard.type('5')
  await page.keyboard.press('Enter')
  await card(page, 'Flag').waitFor()
  await becomes(t, () => focused(page), 'Product')
  t.is(await press('Shift+Tab', 'Shift+Tab'), 'Delivered 2')
  await page.keyboard.press('Enter')
  t.is(await press('Tab'), 'Status of Whistle')

  // An arrow opens the list, and only what is chosen there is sent.
  const writes = requestsOf(page, (request) => request.method() === 'PATCH')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await card(page, 'Whistle', 'Pending').waitFor()
  t.deepEqual(
    writes.map((request) => request.postDataJSON()),
    [{ status: 'Pending' }],
  )
  t.is(await focused(page), 'Status of Whistle')

  t.is(await press('Tab'), 'Edit Whistle')
  t.is(await press('Enter'), 'Product')
  await page.keyboard.press('Escape')
  t.is(await press(), 'Edit Whistle')
  await page.keyboard.press('Enter')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('Whistle, steel')
  await page.keyboard.press('Enter')
  await card(page, 'Whistle, steel').waitFor()
  await gone(dialog(page, /Edit order/))
  t.is(await press(), 'Edit Whistle, steel')

  // Whistle is the last of its column now: the focus goes to the one before it.
  t.is(await press('Tab', 'Enter'), 'Cancel')
  // The answer may be there before the focus can be asked for: only what comes of it is looked at.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await gone(card(page, 'Whistle, steel'))
  t.is(await press(), 'Net €12.50 #6 Pending Shipped Delivered Cancelled')
  t.is(await press('Tab'), 'Status of Net')

  // Nor does the focus get lost when somebody else deletes the order.
  await api('DELETE', '/6')
  await gone(card(page, 'Net'))
  t.regex(await focused(page), /^Scoreboard /)
})

// ---------------------------------------------------------------- text is text

test('a product is text wherever it is shown, whatever it looks like', async (t, { open, api }) => {
  const page = await open()
  const nasty = '<img src=x onerror="hacked=1"><script>hacked=2</script>{{7*7}}&amp;'
  const { id } = await api('POST', '', { product: nasty })
  await card(page, nasty).waitFor()
  await news(page, nasty)
  const editor = await openEditor(page, nasty)
  await editor.getByLabel('Product').fill(`${nasty}!`)
  await api('PATCH', `/${id}`, { product: `${nasty}?` })
  await button(editor, 'Save').click()
  const conflict = dialog(page, 'Somebody else changed this order')
  await conflict.waitFor()
  t.deepEqual((await comparison(page))[1], ['Product', `${nasty}!`, `${nasty}?`])
  await button(conflict, 'Take theirs').click()
  await button(page, `Delete ${nasty}?`).click()
  await page.getByRole('alertdialog').getByText(nasty).waitFor()
  await page.context().setOffline(true)
  await button(page.getByRole('alertdialog'), 'Delete').click()
  await page.getByRole('alert').getByText(nasty).waitFor()
  t.is(await page.locator('img, body script, [onerror]').count(), 0)
  t.is(await page.evaluate('typeof hacked'), 'undefined')
})

test('the page runs its own scripts and no others, and makes no markup of text', async (t, { wire, open, faults }) => {
  const response = await fetch(`http://localhost:${wire.port}/`)
  const policy = String(response.headers.get('content-security-policy')).split('; ')
  for (const directive of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]) {
    t.true(policy.includes(directive), directive)
  }
  const source = await response.text()
  t.notRegex(source, /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=/i)
  for (const path of ['/app.js', '/..%2fapp.ts', '/%2e%2e/models.ts', '/.git/config']) {
    t.is((await fetch(`http://localhost:${wire.port}${path}`)).status, 404, path)
  }
  const page = await open()
  const outcome = await page.evaluate<string>(`(() => {
    try { document.createElement('p').innerHTML = '<b>x</b>'; return 'markup' } catch (error) { return error.name }
  })()`)
  t.is(outcome, 'TypeError')
  await becomes(t, async () => faults.length, 1)
  t.regex(String(faults.pop()), /^error: .*Trusted/)
})

ava.serial('pages of other origins cannot connect to the hub, and nobody can send it much', async (t) => {
  const server = await serve(live(), 0)
  t.teardown(server.close)
  const url = `http://localhost:${server.port}/api/orders/hub`
  const outcome = (origin: string | null): Promise<string> => {
    const headers = origin === null ? {} : { Origin: origin }
    const socket = io(url, { transports: ['websocket'], forceNew: true, reconnection: false, extraHeaders: headers })
    return new Promise<string>((resolve) => {
      socket.on('connect', () => resolve('connected'))
      socket.on('connect_error', () => resolve('refused'))
    }).finally(() => socket.disconnect())
  }
  t.is(await outcome(null), 'connected')
  t.is(await outcome(`http://localhost:${server.port}`), 'connected')
  t.is(await outcome('http://localhost:1'), 'refused')
  t.is(await outcome('https://evil.example'), 'refused')
  t.is(await outcome('null'), 'refused')

  const polling = await fetch(`http://localhost:${server.port}/socket.io/?EIO=4&transport=polling`, {
    headers: { Origin: 'https://evil.example' },
  })
  t.is(polling.status, 403)
  t.is(polling.headers.get('access-control-allow-origin'), null)

  const talker = io(url, { transports: ['websocket'], forceNew: true, reconnection: false })
  const end = new Promise<string>((resolve) => {
    talker.on('connect', () => talker.emit('much', 'x'.repeat(20_000)))
    talker.on('disconnect', resolve)
  })
  t.is(await end, 'transport close')
})

// ---------------------------------------------------------------- many orders, many sizes

test('the board holds hundreds of orders, and says so in one sentence when many of them change', async (t, {
  wire,
  visit,
  api,
}) => {
  await Order.bulkCreate(
    Array.from({ length: 242 }, (_, index) => ({ product: `Ticket ${index + 1}`, total: index, status: 'Shipped' })),
  )
  let lists: Request[] = []
  const page = await visit(async (fresh) => {
    lists = requestsOf(fresh, isList)
  })
  await card(page, 'Ticket 242').waitFor()
  await news(page, 'There are 250 orders.')
  t.is(lists.length, 3)
  t.is(await page.getByRole('article').count(), 250)
  const shipped = page.getByRole('region', { name: 'Shipped' })
  t.is(await shipped.getByRole('heading').first().textContent(), 'Shipped 244')
  t.is(await shipped.getByRole('article').first().getByRole('heading').textContent(), 'Ticket 242', 'newest first')

  // Not Playwright's waitForFunction: it evaluates its text again and again, which the page's policy forbids.
  await page.evaluate(`globalThis.said = new Promise((resolve) => {
    const isSentence = () => /^\\d+ orders changed[.]$/.test(news.textContent)
    new MutationObserver(() => isSentence() && resolve(true)).observe(news, { childList: true })
  }); 'listening'`)
  wire.hold()
  await Promise.all(Array.from({ length: 20 }, (_, index) => api('PATCH', `/${index + 9}`, { status: 'Delivered' })))
  wire.release()
  t.true(await page.evaluate('said'))
  await becomes(t, () => page.getByRole('region', { name: 'Delivered' }).getByRole('article').count(), 22)
})

const WIDTHS = [320, 400, 768, 1000, 1400, 1920]

for (const colorScheme of ['light', 'dark'] as const) {
  test(`in ${colorScheme} colours everything has a name, is large enough and stands out, at any width`, async (t, {
    open,
    api,
  }) => {
    const long = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen, second choice, with a long tail of words'
    await api('POST', '', { product: long, total: 99999999.99 })
    await api('POST', '', { product: 'W'.repeat(100), status: 'Shipped' })
    const page = await open({ colorScheme, reducedMotion: 'reduce' })

    const check = async (what: string, selector: string): Promise<void> => {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 })
        const room = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        t.true(Number(room) <= 0, `${what} at ${width}: ${room} pixels too wide`)
        t.deepEqual(await page.evaluate(`audit('${selector}')`), [], `${what} at ${width}`)
      }
    }

    await check('board', 'body')
    await page.getByLabel('Total').first().fill('x')
    await button(page, 'Add order').click()
    await page.getByText('Total must be a number.').waitFor()
    await check('new order with messages', 'body')

    const editor = await openEditor(page, long)
    await editor.getByLabel('Product').fill('')
    await editor.getByLabel('Total').fill('x')
    await button(editor, 'Save').click()
    await editor.getByText('Total must be a number.').waitFor()
    await api('PATCH', '/9', { status: 'Cancelled' })
    await editor.getByText('Somebody else has changed').waitFor()
    await check('editor with messages', '#editor')
    await editor.getByLabel('Product').fill(`${long.slice(0, 90)}!`)
    await editor.getByLabel('Total').fill('1')
    await button(editor, 'Save').click()
    await dialog(page, 'Somebody else changed this order').waitFor()
    await check('conflict', '#conflict')
    await page.keyboard.press('Escape')
    await page.context().setOffline(true)
    await button(editor, 'Save').click()
    await editor.getByRole('alert').waitFor()
    await check('editor with a failure', '#editor')
    await page.keyboard.press('Escape')

    await button(page, `Delete ${long}`).click()
    await page.getByRole('alertdialog').waitFor()
    await check('deletion', '#deletion')
    await button(page.getByRole('alertdialog'), 'Delete').click()
    await page.getByRole('alert').waitFor()
    await check('board with a failure', 'body')
    t.is(await page.evaluate(`getComputedStyle(document.querySelector('.changed')).animationName`), 'none')
  })
}

test('on a small screen the board comes first, and the form when it is wanted', async (t, { open, api }) => {
  const page = await open({ viewport: { width: 400, height: 800 } })
  const product = page.getByLabel('Product').first()
  t.false(await product.isVisible())
  const first = await page.getByRole('article').first().boundingBox()
  t.true(first !== null && first.y + first.height < 500, `the first order ends at ${first && first.y + first.height}`)

  const opener = button(page, 'New order')
  t.is(await opener.getAttribute('aria-expanded'), 'false')
  await opener.click()
  t.is(await opener.getAttribute('aria-expanded'), 'true')
  t.is(await focused(page), 'Product')
  await page.keyboard.type('Flag')
  await page.keyboard.press('Enter')
  await card(page, 'Flag', 'Pending').waitFor()
  await becomes(t, () => product.inputValue(), '')
  t.true(await product.isVisible(), 'there may be more to add')
  await page.keyboard.press('Escape')
  await gone(product)
  t.is(await focused(page), 'New order')
  await opener.click()
  await opener.click()
  t.false(await product.isVisible())

  // The last card takes the focus with it, to something that is there.
  for (let id = 1; id <= 8; id += 1) await api('DELETE', `/${id}`)
  await page.getByLabel('Status of Flag').focus()
  await gone(card(page, 'Scoreboard'))
  await gone(card(page, 'Tickets for the final'))
  await api('DELETE', '/9')
  await gone(card(page, 'Flag'))
  t.is(await focused(page), 'New order')

  await page.setViewportSize({ width: 1400, height: 900 })
  t.true(await product.isVisible(), 'there is room for it')
  t.false(await opener.isVisible())
})

test('the four columns stand beside each other from 1,000 pixels', async (t, { open }) => {
  const page = await open({ viewport: { width: 1000, height: 800 } })
  const tops = async (): Promise<number> => {
    const boxes = await Promise.all((await page.locator('#board > section').all()).map((each) => each.boundingBox()))
    return new Set(boxes.map((box) => box?.y)).size
  }
  t.is(await tops(), 1)
  const outside = `[...document.querySelectorAll('.card')].filter((card) => card.scrollWidth > card.clientWidth).length`
  t.is(await page.evaluate(outside), 0, 'everything stays within its card')
  await page.setViewportSize({ width: 999, height: 800 })
  t.is(await tops(), 2)
})

test('what an order is stands out on its card, and what can be done with it stands back', async (t, { open }) => {
  const page = await open()
  for (const width of [400, 1400]) {
    await page.setViewportSize({ width, height: 900 })
    const order = card(page, 'Jersey, blue, number 23')
    const box = async (locator: Locator): Promise<{ y: number; height: number; width: number }> => {
      const found = await locator.boundingBox()
      if (found === null) throw new RangeError('it is not there')
      return found
    }
    const whole = await box(order)
    t.true(whole.height <= 110, `${width}: a card is ${whole.height} high`)
    const title = await box(order.getByRole('heading'))
    for (const control of [
      page.getByLabel('Status of Jersey, blue, number 23'),
      button(page, 'Edit Jersey, blue, number 23'),
      button(page, 'Delete Jersey, blue, number 23'),
    ]) {
      t.true((await box(control)).y >= title.y + title.height, `${width}: below the heading`)
      const weight = await style(control, 'fontWeight')
      const border = await style(control, 'borderTopColor')
      t.is(weight, '400')
      t.is(border, 'rgba(0, 0, 0, 0)', 'no frame')
    }
    for (const strong of [order.getByRole('heading'), order.getByText('€89.50')]) {
      t.is(await style(strong, 'fontWeight'), '600')
    }
  }
})

test('an empty board says so', async (t, { open, api }) => {
  for (let id = 1; id <= 8; id += 1) await api('DELETE', `/${id}`)
  const page = await open()
  await page.getByText('There are no orders yet. Add the first one above.').waitFor()
  await api('POST', '', { product: 'First' })
  await card(page, 'First').waitFor()
  t.false(await page.getByText('There are no orders yet.').isVisible())
})

ava('the files of the page make no markup of text', (t) => {
  for (const file of ['api', 'board', 'connection', 'dialogs', 'editor', 'fields', 'main', 'notices', 'orders']) {
    const source = readFileSync(join(root, `examples/live/public/${file}.js`), 'utf8')
    t.notRegex(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/, file)
  }
})
