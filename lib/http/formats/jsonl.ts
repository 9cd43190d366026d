import type { Exported } from '../../../types/reply.js'
import type { Format } from '../formats.js'
import { stream } from './stream.js'

/** A record on each line, as JSON: nested members, numbers and nulls as in lists. */
function linesAs(mediaType: string): Omit<Format, 'name'> {
  return {
    mediaType,
    kinds: new Set(['export']),
    tagged: false,
    send: (res, content) => {
      if (content.kind !== 'export') throw new TypeError(`a ${content.kind} has no lines`)
      const { name, batches, record }: Exported = content.value
      res.setHeader('Content-Type', mediaType)
      res.setHeader('Content-Disposition', `attachment; filename="${name}.jsonl"`)
      return stream(res, batches, {
        head: '',
        text: (rows) => rows.map((row) => `${JSON.stringify(record(row))}\n`).join(''),
      })
    },
  }
}

export const jsonl: Format = Object.freeze({ ...linesAs('application/jsonl'), name: 'jsonl' })

/** The same under its other name. */
export const ndjson: Format = Object.freeze(linesAs('application/x-ndjson'))
