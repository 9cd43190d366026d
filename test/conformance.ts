// The public conformance suite of the Model Context Protocol, in both revisions. `conformance/expected.json` has the checks that fail, with why: any
// other failure fails the test, and so does a listed check that passes.
//
// At `/mcp` are the tools of a resource, as a host serves them. The scenarios that say something of any server run there. At `/suite` the same
// HTTP service has the tools, prompts and resources that the other scenarios call. All scenarios run there that a revision requires.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { type Check, checksOf, isInstalled, requiredBy, type Served, served } from './conformance/suite.js'
import { root } from './support/program.js'

const REVISIONS = ['2025-11-25', '2026-07-28'] as const
const PATHS = ['/mcp', '/suite'] as const

/** Reasons for failures by check, by scenario, by revision and by path. */
type Expected = Record<
  (typeof PATHS)[number],
  Record<(typeof REVISIONS)[number], Record<string, Record<string, string>>>
>

if (!isInstalled) console.warn('THE CONFORMANCE SUITE OF MCP IS LEFT OUT: `npm ci` in test/conformance brings it.')
const check = isInstalled ? test.serial : test.serial.skip

let server: Served
let expected: Expected

test.before(async () => {
  if (!isInstalled) return
  server = await served()
  expected = JSON.parse(await readFile(join(root, 'test/conformance/expected.json'), 'utf8'))
})
test.after.always(() => server?.close())

/** Ids of checks with a status. */
function idsOf(checks: readonly Check[], status: string): readonly string[] {
  return [...new Set(checks.filter((each) => each.status === status).map(({ id }) => id))].toSorted()
}

for (const path of PATHS) {
  for (const revision of REVISIONS) {
    check(`agents at ${path} get what revision ${revision} says, but for the failures that are listed`, async (t) => {
      t.timeout(120_000)
      const listed = expected[path][revision]
      const required = path === '/suite' ? await requiredBy(revision) : Object.keys(listed)
      t.deepEqual(
        Object.keys(listed).filter((scenario) => !required.includes(scenario)),
        [],
        'each of the list is required',
      )
      const ran = await checksOf(server.url + path, ['--requirements', revision])
      let passed = 0
      for (const scenario of required) {
        const checks = ran.get(scenario) ?? []
        t.true(checks.length > 0, `${scenario} runs`)
        const messages = checks.flatMap(({ id, errorMessage }) =>
          errorMessage === undefined ? [] : `${id}: ${errorMessage}`,
        )
        t.deepEqual(
          idsOf(checks, 'FAILURE'),
          Object.keys(listed[scenario] ?? {}).toSorted(),
          `${scenario}: ${messages.join('\n')}`,
        )
        passed += checks.filter(({ status }) => status === 'SUCCESS').length
      }
      const failing = Object.values(listed).flatMap((reasons) => Object.keys(reasons)).length
      t.log(`${required.length} scenarios: ${passed} checks pass, ${failing} that are listed fail`)
    })
  }
}
