import type { Format } from '../formats.js'
import { exportOf, writeStream } from './stream.js'

/** Creates a format of JSON lines, with one record on each line. Nested members, numbers and nulls look as in lists. */
function createLinesFormat(mediaType: string): Omit<Format, 'name'> {
  return {
    mediaType,
    kinds: new Set(['export']),
    hasRecords: true,
    hasEntityTag: false,
    headers: (content) => ({
      'Content-Type': mediaType,
      'Content-Disposition': `attachment; filename="${exportOf(content).name}.jsonl"`,
    }),
    send: (out, content, { call }) => {
      const { batches, record, isCounted } = exportOf(content)
      return writeStream(out, call, batches, {
        head: '',
        line: (row) => `${JSON.stringify(record(row))}\n`,
        tail: (count) => (isCounted ? `${JSON.stringify({ '@count': count })}\n` : ''),
      })
    },
  }
}

export const jsonl: Format = Object.freeze({ ...createLinesFormat('application/jsonl'), name: 'jsonl' })

/** The format of JSON lines under the older media type of NDJSON. */
export const ndjson: Format = Object.freeze(createLinesFormat('application/x-ndjson'))
