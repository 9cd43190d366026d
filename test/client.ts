// The client as npm would publish it: what a bundle of it holds, and what it does in a browser at another origin.

import { gzipSync } from 'node:zlib'
import test from 'ava'
import cors from 'cors'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { DataTypes } from 'sequelize'
import { Server } from 'socket.io'
import { crudRouter } from '../lib/index.js'
import { hasBrowser, launch } from './support/browser.js'
import { consumer, node, pack, type Tarball } from './support/consumer.js'
import { serve } from './support/server.js'
import { openStage } from './support/stage.js'

let tarball: Tarball
let folder: string

test.before(async () => {
  tarball = await pack()
  folder = await consumer(
    tarball,
    'client',
    { 'socket.io-client': 'socket.io-client' },
    {
      'package.json': JSON.stringify({ private: true }),
      'imported.mjs': `import { etagOf, resource } from 'sequelize-crud-router/client'\nconsole.log(typeof resource('/api/x').list, etagOf({}))`,
      ...Object.fromEntries(
        ['react-admin', 'refine'].map((entry) => [
          `${entry}.mjs`,
          `import { dataProvider } from 'sequelize-crud-router/${entry}'\nconsole.log(typeof dataProvider('/api').getList)`,
        ]),
      ),
      'required.cjs': `const { resource } = require('sequelize-crud-router/client')\nconsole.log(typeof resource('/api/x').list)`,
    },
  )
})
test.after.always(() => tarball?.remove())

async function bundle(
  more: BuildOptions = {},
  entry = 'client',
): Promise<{ readonly text: string; readonly from: Metafile }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export * from 'sequelize-crud-router/${entry}'`, resolveDir: folder },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'client',
    write: false,
    metafile: true,
    ...more,
  })
  return { text: outputFiles?.[0]?.text ?? '', from: metafile ?? { inputs: {}, outputs: {} } }
}

test('a bundle of the client holds nothing of the server and at most 7 kB, Socket.IO apart', async (t) => {
  const { text, from } = await bundle({ external: ['socket.io-client'], format: 'esm' })
  const inputs = Object.keys(from.inputs).filter((path) => path !== '<stdin>')
  t.true(inputs.length > 5)
  for (const path of inputs)
    t.regex(path, /node_modules\/sequelize-crud-router\/dist\/browser\/lib\/(client|language|common)\//)
  t.notRegex(text, /node:|sequelize|express|\bjoi\b/i)
  const size = gzipSync(text).length
  t.true(size <= 7000, `${size} bytes`)
  t.log(`${size} bytes by gzip`)
})

test('a bundle of the client with actions is little larger, and holds nothing of the server', async (t) => {
  const { text, from } = await bundle({ external: ['socket.io-client'], format: 'esm' }, 'client/actions')
  const inputs = Object.keys(from.inputs).filter((path) => path !== '<stdin>')
  for (const path of inputs) t.regex(path, /dist\/browser\/lib\/(client\/|language\/decimalText\.)/)
  t.notRegex(text, /node:|sequelize|express|\bjoi\b/i)
  const size = gzipSync(text).length
  t.true(size <= 7000, `${size} bytes`)
})

for (const entry of ['react-admin', 'refine']) {
  test(`a bundle of ${entry} holds the client and itself, and nothing of the framework or the server`, async (t) => {
    const { text, from } = await bundle({ external: ['socket.io-client'], format: 'esm' }, entry)
    const inputs = Object.keys(from.inputs).filter((path) => path !== '<stdin>')
    t.true(inputs.some((path) => path.includes(`/lib/${entry}/`)))
    for (const path of inputs)
      t.regex(path, /dist\/browser\/lib\/(client|language|common|providers|react-admin|refine)\//)
    t.notRegex(text, /node:|sequelize|express|\bjoi\b/i)
    const size = gzipSync(text).length
    t.true(size <= 10_000, `${size} bytes`)
    t.log(`${size} bytes by gzip`)
  })
}

test('Node gets the client by import and by require, without Sequelize, Express or Socket.IO', async (t) => {
  t.deepEqual(await node(folder, 'imported.mjs'), { status: 0, stdout: 'function null\n', stderr: '' })
  t.deepEqual(await node(folder, 'required.cjs'), { status: 0, stdout: 'function\n', stderr: '' })
  t.deepEqual(await node(folder, 'react-admin.mjs'), { status: 0, stdout: 'function\n', stderr: '' })
  t.deepEqual(await node(folder, 'refine.mjs'), { status: 0, stdout: 'function\n', stderr: '' })
})

const inBrowser = hasBrowser ? test : test.skip

inBrowser('a page of another origin reads, writes under the version it has read, and hears of changes', async (t) => {
  const pages = await serve(async (_, response) => {
    const { text } = await bundle()
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><script>${text.replaceAll('</', '<\\/')}</script>`)
  })
  const io = new Server({ cors: { origin: pages.url } })
  const served = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define(
      'note',
      { text: DataTypes.STRING(20), rowVersion: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 } },
      { timestamps: false },
    )
    app.use(cors({ origin: pages.url }))
    app.use(crudRouter(Note, { concurrency: true, push: { io } }))
    return { Note }
  })
  io.attach(served.server)
  const browser = await launch()
  t.teardown(async () => {
    await browser.close()
    await io.close()
    await served.close()
    await pages.close()
  })
  const page = await browser.newPage()
  await page.goto(pages.url)
  const told = await page.evaluate(async (api: string) => {
    const { client } = globalThis as unknown as { client: typeof import('../lib/client/index.js') }
    interface Note {
      id: number
      text: string
    }
    const notes = client.resource<Note>(`${api}/api/notes`)
    const states: string[] = []
    const heard: string[] = []
    const isLive = new Promise<void>((resolve) => {
      notes.live({
        onUpdated: ({ text }) => heard.push(text),
        onState: (state) => {
          states.push(state)
          if (state === 'live') resolve()
        },
      })
    })
    await isLive
    const mine = await notes.create({ text: 'first' })
    const others = await notes.get(mine.id)
    await notes.update(others, { text: 'second' })
    const lost = await notes.update(mine, { text: 'lost' }).catch((error) => error)
    const bare = await notes.update(mine.id, { text: 'bare' }).catch((error) => error)
    const away = new AbortController()
    const left = notes.list({}, { signal: away.signal }).catch((error) => error)
    away.abort('left')
    for (let tries = 0; heard.length === 0 && tries < 100; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 20))
    return {
      tag: client.etagOf(others),
      lost: [lost instanceof client.ProblemError, lost.status, lost.code],
      bare: bare.status,
      left: await left,
      states,
      heard,
    }
  }, served.url)
  t.deepEqual(told, {
    tag: 'W/"0"',
    lost: [true, 412, 'precondition-failed'],
    bare: 428,
    left: 'left',
    states: ['connecting', 'live'],
    heard: ['second'],
  })
})
