import test from 'ava'
import { splitIntoChunks } from '../../../lib/common/chunks.js'

test('keys of links are looked for a thousand at a time, each of them once', (t) => {
  const all = Array.from({ length: 2500 }, (_, index) => index)
  const chunks = splitIntoChunks(all)
  t.deepEqual(
    chunks.map(({ length }) => length),
    [1000, 1000, 500],
  )
  t.deepEqual(chunks.flat(), all)
  t.deepEqual(splitIntoChunks([]), [])
})
