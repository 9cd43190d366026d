// The page on the help desk, held against `npm run example desk`: its listings are those of the program, and its requests and answers those
// that the program prints.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { parseBlocks } from './support/markdown.js'
import { root, startExample } from './support/program.js'

const PAGE = 'docs/help-desk.md'
const blocks = parseBlocks(PAGE, readFileSync(join(root, PAGE), 'utf8'))

test('every listing of the page on the help desk is in the program', (t) => {
  const folder = join(root, 'examples/desk')
  const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
  const listings = blocks.filter(({ language }) => language === 'typescript')
  t.true(listings.length > 8, `${listings.length} listings`)
  for (const { place, text } of listings)
    t.true(
      sources.some((source) => hasLines(source, text)),
      place,
    )
})

test.serial('the help desk prints the requests and the answers of its page, and ends at SIGTERM', async (t) => {
  const program = startExample('desk')
  t.teardown(() => program.stop())
  const [, port = ''] = await program.waitForOutput(/localhost:(\d+)[\s\S]*Ctrl-C/)
  const printed = program.output().replaceAll(`localhost:${port}`, 'localhost:3000')
  const output = asDocumented(printed)
  const requests = blocks.filter(({ language }) => language === 'shell' || language === 'text')
  t.true(requests.length > 8, `${requests.length} requests`)
  for (const { place, text } of requests) t.true(output.includes(asDocumented(text)), `${place}: ${printed}`)
  t.is(await program.stop(), 0, program.output())
})

/** Whether these lines follow each other in a text, with whatever indentation they have in common. */
function hasLines(source: string, listing: string): boolean {
  return unindented(source).includes(unindented(listing))
}

/** Lines without blanks around them, as a page shows less indentation than a program. */
function unindented(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
}

/** Without indentation, and with one text for all instants of this run. */
function asDocumented(text: string): string {
  return unindented(text).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"..."')
}
