// Programs of the repository that are called in a wrong way say how they are called.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test from 'ava'

const folder = fileURLToPath(new URL('..', import.meta.url))

interface Ended {
  readonly code: unknown
  readonly out: string
  readonly told: string
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [`${folder}${program}`, ...args], (error, out, told) =>
      resolve({ code: error === null ? 0 : error.code, out, told }),
    )
  })
}

const CALLS: readonly (readonly [program: string, args: readonly string[], message: RegExp])[] = [
  ['bench/index.js', ['--peers', '--database', 'postgres'], /^--peers is for sqlite, not for postgres/],
  ['bench/index.js', ['--side', 'finale-rest'], /^--side finale-rest is none of bare, sql, hand, router\n/],
  ['bench/index.js', ['--check', '--chart', 'a.svg'], /^--check measures nothing that --chart could draw/],
  ['bench/soak.js', ['--wrong'], /^Unknown option '--wrong'/],
  ['bench/soak.js', ['shapes', '--minutes', 'ten'], /^--minutes ten is no number from 0/],
  ['bench/export.js', ['--database', 'oracle'], /^--database oracle is none of sqlite, mariadb, mysql and postgres/],
  ['bench/scope.js', ['--rows', 'many'], /^--rows many is no number from 1/],
  ['bench/push.js', ['--events', '0'], /^--events 0 is no number from 1/],
  ['bench/growth.js', ['--rows', ''], /^--rows {2}is no number from 10000/],
  ['bench/start.js', ['seven'], /^Unexpected argument 'seven'/],
]

for (const [program, args, message] of CALLS) {
  test(`${program} ${args.map((each) => JSON.stringify(each)).join(' ')} answers with how the program is called, and no stack`, async (t) => {
    const { code, out, told } = await run(program, args)
    t.is(code, 2, told)
    t.is(out, '')
    t.regex(told, message)
    t.regex(told, /\nUsage: npm run bench(?::\w+)? -- /)
    t.notRegex(told, /\n {4}at /)
  })
}

test('--help says how a program is called, and does nothing else', async (t) => {
  const { code, out, told } = await run('bench/start.js', ['--help'])
  t.is(code, 0)
  t.is(told, '')
  t.regex(out, /^Usage: npm run bench:start -- \[options\]\n/)
})
