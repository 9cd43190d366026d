// The benchmark of exports is the proof of what they promise of memory, connections and readers: a small run of it, on this
// database. `npm run bench:export` takes a million rows.

import test from 'ava'
import { databaseName } from '../../support/database.js'
import { build, start } from '../../support/program.js'

test('an export is read back whole by a CSV library and by JSON.parse, in the memory of a page, and holds nothing for slow readers', async (t) => {
  const program = start([`${build}/bench/export.js`, '--database', databaseName, '--rows', '3000'])
  t.teardown(() => program.stop('SIGKILL'))
  t.is(await program.ended(), 0, program.output())
  t.regex(program.output(), /csv: .* rows\/s/)
  t.regex(program.output(), /jsonl: .* rows\/s/)
})
