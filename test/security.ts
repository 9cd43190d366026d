// What the documents say of security, held against the tests; and what the mutation tests excuse, against the code.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { readPages, tableIn } from './support/documents.js'
import { root } from './support/program.js'

/** The titles in the source of a test file, with `…` for what they take from elsewhere. */
async function titlesIn(file: string): Promise<readonly string[]> {
  const source = await readFile(join(root, 'test', file), 'utf8')
  const titles = source.matchAll(
    /\btest(?:\.serial)?\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g,
  )
  return [...titles].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replace(/\$\{[^}]*\}/g, '…').replace(/\\(['"`])/g, '$1'),
  )
}

test('every rule of the page on security has tests, and each that it names is there', async (t) => {
  const rows = tableIn(await readPages(), 'incidents')
  t.true(rows.length >= 37)
  for (const [incident, , held = ''] of rows) {
    for (const named of held.split('<br>')) {
      const [, file = '', title = ''] = /^`([^`]+\.ts)`: (.+)$/.exec(named) ?? []
      t.true((await titlesIn(file)).includes(title.replaceAll('\\_', '_')), `${incident}: ${named}`)
    }
  }
})

interface Reason {
  readonly file: string
  readonly in: string
  readonly original: string
  readonly replacement: string
  readonly why: string
}

test('every mutant that is excused is one of a line that is there, for a reason', async (t) => {
  const reasons: readonly Reason[] = JSON.parse(await readFile(join(root, 'test/mutation/equivalent.json'), 'utf8'))
  t.true(Array.isArray(reasons))
  for (const { file, in: line, why } of reasons) {
    t.true(existsSync(join(root, file)), file)
    const lines = (await readFile(join(root, file), 'utf8')).split('\n').map((each) => each.trim())
    t.true(lines.includes(line), `${file} has no line '${line}'`)
    t.true(why.length > 20, `${file}: ${line}`)
  }
})

test('whoever finds a hole is told where to say so', async (t) => {
  const text = await readFile(join(root, '.github/SECURITY.md'), 'utf8')
  t.regex(text, /Report a vulnerability/)
  const [, address = ''] = /\]\((\S+security\.md)\)/.exec(text) ?? []
  t.true(existsSync(join(root, '.github', address)), address)
})

test('what is published comes with provenance, after the tests, by a workflow that holds no secret', async (t) => {
  const publish = await readFile(join(root, '.github/workflows/publish.yml'), 'utf8')
  t.regex(publish, /npm publish --provenance/)
  t.regex(publish, /id-token: write/)
  t.regex(publish, /needs: ci/)
  t.notRegex(publish, /secrets\./)
  for (const name of ['ci', 'publish', 'docs']) {
    const workflow = await readFile(join(root, `.github/workflows/${name}.yml`), 'utf8')
    for (const [, action = ''] of workflow.matchAll(/uses: (\S+)/g)) t.regex(action, /^\.\/|@v\d+$/)
  }
})
