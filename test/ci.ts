// `.ci/run` calls the commands that the README names, in a folder where these are programs that count nothing but say so.

import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import ava from 'ava'
import { root } from './support/consumer.js'

const test = process.platform === 'win32' ? ava.skip : ava

const PACKAGES = ['.', 'docs', 'examples/admin/page', 'examples/observed/telemetry', 'test/events', 'test/conformance']

/** Runs `.ci/run` with shell commands in place of what it calls; each is noted. */
async function run(
  commands: Readonly<Record<string, string>>,
  servers: Readonly<Record<string, string>> = {},
  services = '',
) {
  const folder = await mkdtemp(join(tmpdir(), 'sequelize-crud-router-ci-'))
  const put = (path: string, text: string): Promise<void> => writeFile(join(folder, path), text, { mode: 0o755 })
  for (const path of ['.ci', 'bin', ...PACKAGES.map((each) => `${each}/node_modules`)]) {
    await mkdir(join(folder, path), { recursive: true })
  }
  await put('.ci/run', await readFile(join(root, '.ci/run'), 'utf8'))
  await put('.ci/services', `#!/bin/sh\n${services}\n`)
  for (const name of ['mariadbd', 'initdb']) await put(`bin/${name}`, '#!/bin/sh\n')
  for (const path of PACKAGES) {
    await put(`${path}/package-lock.json`, '{}')
    await utimes(join(folder, path, 'package-lock.json'), 0, 0)
    await put(`${path}/node_modules/.package-lock.json`, '{}')
  }
  const cases = Object.entries(commands).map(([called, does]) => `'${called}'*) ${does} ;;`)
  for (const name of ['npm', 'node']) {
    await put(`bin/${name}`, `#!/bin/sh\necho "${name} $*" >> calls\ncase "${name} $*" in\n${cases.join('\n')}\nesac\n`)
  }
  const named = /^(?:(?:MYSQL|MARIADB)_|PG)/
  const others = Object.fromEntries(Object.entries(process.env).filter(([name]) => !named.test(name)))
  const env = { ...others, ...servers, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` }
  const { status, stdout } = spawnSync(join(folder, '.ci/run'), { cwd: folder, encoding: 'utf8', env, timeout: 60_000 })
  const calls = await readFile(join(folder, 'calls'), 'utf8')
  await rm(folder, { recursive: true })
  const lines = stdout.trimEnd().split('\n')
  return { status, last: lines.at(-1), lines, calls: calls.trimEnd().split('\n') }
}

const [VERSION, CHECK, ALONE, TEST, NODES, SERVERS, BUILT_IN, PLAIN] = [
  'node --version',
  'npm run check',
  'npm test -- --alone',
  'npm test -- --others',
  'node test/nodes.mjs 20.19 22 26',
  'node test/databases.mjs mariadb postgres mysql',
  'node test/node-sqlite.mjs',
  'node test/speed-off.mjs',
] as const
const FINE = {
  [VERSION]: 'echo v24.13.0',
  [ALONE]: 'echo "1 passed, 0 failed"',
  [TEST]: 'echo "9 passed, 0 failed"',
  [NODES]: 'echo "3 passed, 0 failed"; echo "4 passed, 0 failed"',
  [SERVERS]: 'echo "failed on mysql: 9 passed, 9 failed"; echo "20 passed, 0 failed"',
}

/** Commands in the order of their calls. Those of two groups run at the same time. */
const FIRST = [VERSION, CHECK, ALONE]
const GROUPS = [
  [TEST, BUILT_IN, NODES],
  [SERVERS, PLAIN],
]

test('CI runs the static checks and what needs the machine to itself, then the rest, none of it by the same driver again, and ends with the sum', async (t) => {
  const { status, last, calls } = await run(FINE)
  t.deepEqual([status, last], [0, '37 passed, 0 failed'])
  t.deepEqual(calls.slice(0, 3), FIRST)
  for (const group of GROUPS)
    t.deepEqual(
      calls.filter((call) => group.some((each) => each === call)),
      group,
    )
  t.is(calls.length, 8)
})

test('CI runs the tests on the servers while it runs those on SQLite, and shows their output whole', async (t) => {
  const wait = (file: string): string => `while [ ! -e ${file} ]; do sleep 0.05; done`
  const { status, last, lines } = await run({
    ...FINE,
    [TEST]: `touch sqlite; ${wait('servers')}; echo "one of SQLite"; echo "9 passed, 0 failed"`,
    [SERVERS]: `echo "one of a server"; touch servers; ${wait('sqlite')}; echo "20 passed, 0 failed"`,
  })
  t.deepEqual([status, last], [0, '37 passed, 0 failed'])
  t.true(lines.indexOf('one of SQLite') < lines.indexOf('one of a server'))
  t.is(lines.indexOf('20 passed, 0 failed'), lines.indexOf('one of a server') + 1)
})

test('tests on the servers that are killed fail CI', async (t) => {
  const { status, last } = await run({ ...FINE, [SERVERS]: 'kill -9 0' })
  t.deepEqual([status, last], [1, '17 passed, 1 failed'])
})

test('CI tests on a MariaDB and a PostgreSQL of its own, unless the environment names a server', async (t) => {
  const echo = { ...FINE, [SERVERS]: 'echo "ports $MYSQL_PORT $MARIADB_PORT $PGPORT" >> calls' }
  t.true((await run(echo)).calls.includes('ports 11306  11432'))
  t.true((await run(echo, { MYSQL_PORT: '3307' })).calls.includes('ports 3307  11432'))
  t.true((await run(echo, { MARIADB_PORT: '3308' })).calls.includes('ports  3308 11432'))
  t.true((await run(echo, { PGPORT: '5433' })).calls.includes('ports 11306  5433'))
  t.true((await run(echo, { PGHOST: 'db' })).calls.includes('ports 11306  '))
})

test('CI tests on the servers of the machine if its own do not start', async (t) => {
  const echo = { ...FINE, [SERVERS]: 'echo "ports $MYSQL_PORT $PGPORT" >> calls' }
  t.true((await run(echo, {}, '[ "$MYSQL_PORT" != 11306 ]')).calls.includes('ports  '))
})

test('whatever fails fails CI, which runs the rest all the same', async (t) => {
  for (const [called, does, last] of [
    [ALONE, 'exit 1', '36 passed, 1 failed'],
    [TEST, 'echo "8 passed, 1 failed"; exit 1', '36 passed, 1 failed'],
    [TEST, 'exit 2', '28 passed, 1 failed'],
    [CHECK, 'exit 1', '37 passed, 1 failed'],
    [NODES, 'echo "3 passed, 0 failed"; echo "2 passed, 2 failed"; exit 1', '35 passed, 2 failed'],
    [SERVERS, 'echo "20 passed, 3 failed"; exit 1', '37 passed, 3 failed'],
    [SERVERS, 'exit 1', '17 passed, 1 failed'],
    [BUILT_IN, 'echo "5 passed, 1 failed"; exit 1', '42 passed, 1 failed'],
    [PLAIN, 'exit 1', '37 passed, 1 failed'],
  ] as const) {
    const ran = await run({ ...FINE, [called]: does })
    t.is(ran.last, last, `${called}: ${does}`)
    t.not(ran.status, 0, called)
    t.is(ran.calls.length, 8, called)
  }
})

test('CI on another version of Node installs the one that is measured, or fails', async (t) => {
  const on20 = { ...FINE, [VERSION]: 'echo v20.19.0' }
  const { status, calls } = await run(on20)
  t.is(status, 0)
  t.regex(calls[1] ?? '', /^npm install --prefix \S+ .*node@24$/)
  t.deepEqual(calls.slice(2).toSorted(), [CHECK, ALONE, ...GROUPS.flat()].toSorted())
  const failing = await run({ ...on20, 'npm install --prefix': 'exit 1' })
  t.is(failing.last, '0 passed, 1 failed')
  t.deepEqual(failing.calls.slice(2), [])
})

test("the README's first screen has the two commands that do everything", async (t) => {
  const screen = (await readFile(join(root, 'README.md'), 'utf8')).split('\n').slice(0, 30)
  for (const command of ['npm ci && npm start', 'npm ci && npm test']) t.true(screen.includes(command), command)
})
