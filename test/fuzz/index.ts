// `npm run fuzz`: requests made at random, valid, nearly valid and broken, over HTTP and sockets, against an application with
// everything on. Ends with status 1 when something was found, each finding as the shortest commands that show it.

import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { isDatabaseName } from '../support/servers.js'
import { parseOrExit } from '../support/usage.js'

const USAGE = `Usage: npm run fuzz -- [options]
  --requests <n>     how many [20000]
  --seed <n>         the same requests again [at random]
  --first <n>        the number of the first request [0]
  --database <name>  sqlite, mariadb, mysql or postgres [sqlite]
  --callers <names>  who asks, with commas between [all]
  --compared <n>     so many more reads, each compared with what a database without the rest answers [a tenth of the requests]
  --most <n>         findings after which the run ends [5]
  --minutes <n>      the run ends then, however many requests it has made
  --slowest <ms>     a reply that takes longer fails the run [10000]
  --growth <MiB>     a heap that is larger in the last quarter of the run than in the second by more is a finding [32]`

const options = {
  requests: { type: 'string', default: '20000' },
  seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  first: { type: 'string', default: '0' },
  database: { type: 'string', default: process.env.TEST_DATABASE ?? 'sqlite' },
  callers: { type: 'string' },
  compared: { type: 'string' },
  most: { type: 'string', default: '5' },
  slowest: { type: 'string', default: '10000' },
  minutes: { type: 'string' },
  growth: { type: 'string', default: '32' },
} as const

const { database, wanted } = parseOrExit(USAGE, () => {
  const { values } = parseArgs({ options })
  if (!isDatabaseName(values.database)) throw new RangeError(`--database ${values.database} is none that there is`)
  const number = (name: Exclude<keyof typeof values, 'callers' | 'database'>, fallback = 0): number => {
    const value = Number(values[name] ?? fallback)
    if (Number.isSafeInteger(value) && value >= 0) return value
    throw new RangeError(`--${name} ${values[name]} is no whole number`)
  }
  const requests = number('requests')
  const wanted = {
    seed: number('seed'),
    first: number('first'),
    requests,
    compared: number('compared', Math.floor(requests / 10)),
    most: number('most'),
    slowest: number('slowest'),
    growth: number('growth'),
    minutes: values.minutes === undefined ? null : number('minutes'),
    callers: values.callers?.split(',') ?? null,
  }
  return { database: values.database, wanted }
})

// Before what reads it is loaded.
process.env.TEST_DATABASE = database
const { fuzz } = await import('./fuzz.js')
process.exitCode = (await fuzz(wanted)) ? 0 : 1
