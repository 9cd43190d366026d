// The site of the documents: built as `npm run docs` builds it, and read in a browser.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { hasBrowser, launch } from './support/browser.js'
import { readPages } from './support/documents.js'
import { root } from './support/program.js'

const SOURCE = join(root, 'docs')
const VITEPRESS = join(SOURCE, 'node_modules/vitepress/bin/vitepress.js')

/** The site's package is installed by itself, and not by the root's: without it these tests are left out. */
const isInstalled = existsSync(VITEPRESS)
if (!isInstalled) console.warn('THE TESTS OF THE SITE ARE LEFT OUT: `npm ci` in docs brings them.')

/** Pages of repositories are below a path. */
const BASE = '/project/'

let folder: string
let server: Server
let origin: string
let browser: Browser

ava.before(async (t) => {
  if (!isInstalled) return
  // Two bundles and every page: a minute of a processor, which other tests want as well.
  t.timeout(1_200_000)
  folder = await mkdtemp(join(tmpdir(), 'site-'))
  const { NODE_OPTIONS: _, NODE_ENV: __, GITHUB_REPOSITORY: ___, ...env } = process.env
  await promisify(execFile)(process.execPath, [VITEPRESS, 'build', '--outDir', folder], {
    cwd: SOURCE,
    env: { ...env, BASE },
  })
  // Each page has the scripts of the pages that it links to fetched ahead. A browser that keeps them fetches each once.
  server = createServer(express().use(BASE, express.static(folder, { maxAge: '1h' })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  if (hasBrowser) browser = await launch()
})

ava.after.always(async () => {
  await browser?.close()
  server?.close()
  server?.closeAllConnections()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

const test = isInstalled ? ava.serial : ava.serial.skip
const testInBrowser = isInstalled && hasBrowser ? ava.serial : ava.serial.skip

/** The file of each page, README.md being the home. */
async function pageFiles(): Promise<readonly string[]> {
  const paths = (await readPages()).map(({ path }) => path).filter((path) => path.startsWith('docs/'))
  return paths.map((path) => path.replace('docs/', '').replace('README.md', 'index.md').replace('.md', '.html'))
}

interface Reader {
  readonly page: Page
  readonly open: (file: string) => Promise<void>
  readonly faults: readonly string[]
}

async function read(t: ExecutionContext, options: BrowserContextOptions = {}): Promise<Reader> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options })
  t.teardown(() => context.close())
  const page = await context.newPage()
  // Loading takes long where many tests are under way.
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error.stack)))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`${page.url()}: ${message.text()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
  })
  return {
    page,
    faults,
    open: async (file) => {
      await page.goto(`${origin}${BASE}${file}`, { waitUntil: 'load' })
      await page.locator('#app').waitFor()
    },
  }
}

// ---------------------------------------------------------------- links

interface Found {
  readonly links: readonly string[]
  readonly anchors: readonly string[]
  readonly broken: readonly string[]
}

const FIND = `({
  links: [...document.querySelectorAll('a[href]')].map((link) => link.href),
  anchors: [...document.querySelectorAll('[id]')].map(({ id }) => id),
  broken: [...document.images].filter((image) => image.naturalWidth === 0).map(({ src }) => src),
})`

testInBrowser('every link of the site leads to a page and a place in it, and no page complains', async (t) => {
  t.timeout(600_000)
  const { page, open, faults } = await read(t)
  const found = new Map<string, Found>()
  for (const file of await pageFiles()) {
    await open(file)
    found.set(file, (await page.evaluate(FIND)) as Found)
  }
  t.true(found.size > 30, `${found.size} pages`)
  for (const [file, { links, broken }] of found) {
    t.deepEqual(broken, [], file)
    for (const link of links) {
      const { origin: where, pathname, hash } = new URL(link)
      if (where !== origin) continue
      t.true(pathname.startsWith(BASE), `${file}: ${link}`)
      const to = found.get(pathname.slice(BASE.length) || 'index.html')
      t.truthy(to, `${file}: ${link}`)
      if (hash !== '') t.true(to?.anchors.includes(decodeURIComponent(hash.slice(1))), `${file}: ${link}`)
    }
  }
  t.deepEqual(faults, [])
})

testInBrowser('the sidebar has the groups of the list of pages, and every page', async (t) => {
  const { page, open, faults } = await read(t)
  await open('options.html')
  const groups = await page.locator('.VPSidebarItem.level-0 > .item').allTextContents()
  t.deepEqual(
    groups.map((title) => title.trim()),
    ['Start', 'Guides', 'Reference', 'Operations', 'Coming from'],
  )
  const files = (await page.evaluate(
    `[...document.querySelectorAll('.VPSidebarItem a')].map(({ pathname }) => pathname.slice(${BASE.length}))`,
  )) as string[]
  t.deepEqual(files.toSorted(), (await pageFiles()).filter((file) => file !== 'index.html').toSorted())
  t.deepEqual(faults, [])
})

// ---------------------------------------------------------------- search, sizes, colours

testInBrowser('the search finds a word, and leads to its place', async (t) => {
  const { page, open, faults } = await read(t)
  await open('index.html')
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.getByRole('searchbox').fill('Idempotency-Key')
  await page.locator('.VPLocalSearchBox .result').first().click()
  await page.waitForURL(/idempotency/)
  await page.getByText('Idempotency-Key').first().waitFor()
  t.deepEqual(faults, [])
})

for (const colorScheme of ['light', 'dark'] as const) {
  testInBrowser(`in ${colorScheme} colours every page fits into small and large windows`, async (t) => {
    t.timeout(600_000)
    const { page, open, faults } = await read(t, { colorScheme })
    for (const width of [400, 1400]) {
      await page.setViewportSize({ width, height: 900 })
      for (const file of ['index.html', 'options.html', 'query-language.html', 'benchmarks.html', 'relations.html']) {
        await open(file)
        const excess = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
        t.true(excess <= 0, `${file} at ${width}: ${excess} pixels too wide`)
      }
    }
    const [, red] =
      /^rgba?\((\d+)/.exec(String(await page.evaluate('getComputedStyle(document.body).backgroundColor'))) ?? []
    t.is(Number(red) > 128, colorScheme === 'light')
    t.deepEqual(faults, [])
  })
}

testInBrowser('the drawings of the pages are drawn', async (t) => {
  t.timeout(600_000)
  const drawn = (await readPages()).filter(({ blocks }) => blocks.some(({ language }) => language === 'mermaid'))
  t.true(drawn.length >= 6, `${drawn.length} pages`)
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, open, faults } = await read(t, { colorScheme })
    for (const { path, blocks } of drawn) {
      await open(path.replace('docs/', '').replace('.md', '.html'))
      await page.locator('div.drawing svg').first().waitFor()
      t.is(await page.locator('pre.drawing').count(), 0, path)
      const drawings = blocks.filter(({ language }) => language === 'mermaid')
      t.is(await page.locator('div.drawing').count(), drawings.length, path)
      t.is(await page.getByText('Syntax error').count(), 0, path)
    }
    t.deepEqual(faults, [])
  }
})

// ---------------------------------------------------------------- for programs

test('llms.txt lists every page with its group, and llms-full.txt has the text of all of them', async (t) => {
  const [index, whole] = await Promise.all(
    ['llms.txt', 'llms-full.txt'].map((file) => readFile(join(folder, file), 'utf8')),
  )
  const { name, description } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  t.true(index?.startsWith(`# ${name}\n\n> ${description}\n`))
  t.regex(index ?? '', /\n## Guides\n\n- \[/)
  const pages = (await readPages()).filter(({ path }) => path.startsWith('docs/') && path !== 'docs/README.md')
  const files = [...(index ?? '').matchAll(/^- \[[^\]]+\]\(([^)]+)\)(?:: .+)?$/gm)].map(([, file = '']) => file)
  t.deepEqual(files.toSorted(), pages.map(({ path }) => path.replace('docs/', '')).toSorted())
  t.is(await readFile(join(folder, 'AGENTS.md'), 'utf8'), await readFile(join(root, 'AGENTS.md'), 'utf8'))
  for (const { path, text } of pages) {
    t.true(whole?.includes(text), path)
    t.is(await readFile(join(folder, path.replace('docs/', '')), 'utf8'), text, path)
  }
})

// ---------------------------------------------------------------- where it comes from

ava('the workflow that publishes the site installs and builds what these tests build', async (t) => {
  const workflow = await readFile(join(root, '.github/workflows/docs.yml'), 'utf8')
  const { scripts } = JSON.parse(await readFile(join(SOURCE, 'package.json'), 'utf8'))
  t.is(scripts.build, 'vitepress build')
  for (const command of ['npm ci --prefix docs', 'npm run build --prefix docs']) t.true(workflow.includes(command))
  t.regex(workflow, /branches: \[main\]/)
})
