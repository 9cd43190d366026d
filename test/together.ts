// The program that runs several test files in one process (test/together): it finds what AVA finds, in every file.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import ava from 'ava'

// Node 20 has no hooks for modules that run in the same thread, so AVA runs all files there.
const test = Number.parseInt(process.versions.node, 10) >= 22 ? ava : ava.skip

interface Run {
  readonly status: number | null
  readonly output: string
  readonly errors: string
}

/** Runs test files with these texts, by their names. */
async function run(files: Readonly<Record<string, string>>): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'together-'))
  try {
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    const paths = await Promise.all(
      Object.entries(files).map(async ([name, code]) => {
        const path = join(folder, `${name}.js`)
        await writeFile(path, code)
        return path
      }),
    )
    // The files of this run share nothing with the run that this test is part of.
    const { TEST_RUN, ...env } = process.env
    const child = spawn(process.execPath, ['test/together/run.mjs', ...paths], { env })
    const [[status], output, errors] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
    return { status, output, errors }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const PASSING = `import test from 'ava'
test.before(() => { globalThis.steps = ['before'] })
test('one', (t) => t.deepEqual(globalThis.steps, ['before']))
test.serial('two', (t) => t.pass())
test.skip('three', (t) => t.fail())
`

test('tests of several files are counted, each under the name of its file', async (t) => {
  const { status, output } = await run({ first: PASSING, second: PASSING })
  t.is(status, 0, output)
  t.deepEqual(
    output
      .match(/✔.*/g)
      ?.map((line) => line.replace(/ \(.*/, ''))
      .toSorted(),
    ['✔ first › one', '✔ first › two', '✔ second › one', '✔ second › two'],
  )
  t.regex(output, /- \[skip\] first › three/)
  t.regex(output, /4 tests passed/)
})

const FAILURES: Readonly<Record<string, readonly [code: string, output: RegExp]>> = {
  'a failed assertion': [`test('it fails', (t) => t.is(1, 2))`, /✘ \[fail\]: wrong › it fails/],
  'a failed hook': [`test.before(() => { throw new Error('no') })\ntest('one', (t) => t.pass())`, /1 hook failed/],
  'a test without assertions': [
    `test('it asserts nothing', () => undefined)`,
    /✘ \[fail\]: wrong › it asserts nothing/,
  ],
  'an uncaught exception': [
    `test('it throws later', async (t) => { setTimeout(() => { throw new Error('late') }); await new Promise((done) => setTimeout(done, 500)); t.pass() })`,
    /1 uncaught exception/,
  ],
  'an unhandled rejection': [
    `test('it forgets a promise', (t) => { Promise.reject(new Error('forgotten')); t.pass() })`,
    /1 unhandled rejection/,
  ],
  'a test that waits for nothing': [
    `test('it waits', async (t) => { await new Promise(() => undefined); t.pass() })`,
    /✘ \[fail\]: wrong › it waits/,
  ],
  'a process that ends': [`test('it exits', () => process.exit(3))`, /exited with a non-zero exit code: 3/],
  'an error outside of tests': [`test('one', (t) => t.pass())\nthrow new Error('outside')`, /1 uncaught exception/],
  'a file without tests': ['', /The file has no tests\./],
}

for (const [what, [code, expected]] of Object.entries(FAILURES)) {
  test(`${what} fails the run, and the other files run all the same`, async (t) => {
    const { status, output } = await run({ wrong: `import test from 'ava'\n${code}`, right: PASSING })
    t.is(status, 1, output)
    t.regex(output, expected)
    t.regex(output, /✔ right › two/)
  })
}

test('a server that a file leaves open fails the run, and the output names the file', async (t) => {
  const leaving = `import { createServer } from 'node:http'\nimport test from 'ava'\ncreateServer().listen(0)\ntest('one', (t) => t.pass())`
  const { status, output, errors } = await run({ leaving })
  t.is(status, 1, output)
  t.regex(errors, /A process does not end\. .*\n.*leaving\.js/)
  t.regex(output, /✔ one/)
})
