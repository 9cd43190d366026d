// The league under Node's permission model: it reads its own folder and its database, and starts no process and no addon.

import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { freePort, root, start, waitUntilListening } from './support/program.js'

/** The flag has this name since Node 23.5. Before, and without `node:sqlite`, the league needs an addon. */
const [major = 0] = process.versions.node.split('.').map(Number)
const check = major >= 24 ? test : test.skip

check('the league answers with the permission to read its folder and its database alone', async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'permissions-')))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const port = await freePort()
  const allowed = [`--allow-fs-read=${root}`, `--allow-fs-read=${folder}`, `--allow-fs-write=${folder}`]
  // Node restricts the net where it has a permission for it.
  if (process.allowedNodeEnvironmentFlags.has('--allow-net')) allowed.push('--allow-net')
  const args = ['--permission', ...allowed, join('examples', 'run.mjs'), 'league']
  const program = start(args, { env: { PORT: String(port), TMPDIR: folder } })
  t.teardown(() => program.stop())
  await program.waitForOutput(/The league is at/)
  await waitUntilListening(port)
  const url = `http://localhost:${port}`
  const statusOf = async (path: string): Promise<number> => (await fetch(url + path)).status
  t.is(await statusOf('/api/players?filter=Team.Name=Lakers&sort=-Level'), 200)
  for (const path of ['/docs', '/docs/try.js', '/openapi.json', '/client.js', '/client.d.ts', '/live/']) {
    t.is(await statusOf(path), 200, path)
  }
  const headers = { 'Content-Type': 'application/json' }
  const created = await fetch(`${url}/api/players`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'Ewa Nowa', level: 12, email: 'ewa@test.pl', salary: 4000 }),
  })
  t.is(created.status, 201)
  t.is(await program.stop(), 0)
  t.notRegex(program.output(), /ERR_ACCESS_DENIED/)
})
