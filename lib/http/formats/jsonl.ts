import type { Exported } from '../../../types/reply.js'
import type { Format, Said } from '../formats.js'
import { stream } from './stream.js'

function linesIn(content: Said): Exported {
  if (content.kind !== 'export') throw new TypeError(`a ${content.kind} has no lines`)
  return content.value
}

/** JSON lines: one record on each line. Nested members, numbers and nulls are written as in lists. */
function linesAs(mediaType: string): Omit<Format, 'name'> {
  return {
    mediaType,
    kinds: new Set(['export']),
    hasRecords: true,
    tagged: false,
    headers: (content) => ({
      'Content-Type': mediaType,
      'Content-Disposition': `attachment; filename="${linesIn(content).name}.jsonl"`,
    }),
    send: (out, content, { call }) => {
      const { batches, record, isCounted } = linesIn(content)
      return stream(out, call, batches, {
        head: '',
        line: (row) => `${JSON.stringify(record(row))}\n`,
        tail: (count) => (isCounted ? `${JSON.stringify({ '@count': count })}\n` : ''),
      })
    },
  }
}

export const jsonl: Format = Object.freeze({ ...linesAs('application/jsonl'), name: 'jsonl' })

/** JSON lines under their other media type. */
export const ndjson: Format = Object.freeze(linesAs('application/x-ndjson'))
