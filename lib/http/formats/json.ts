import type { Format } from '../formats.js'

/** By the host's own Express settings. */
export const json: Format = Object.freeze<Format>({
  mediaType: 'application/json',
  kinds: new Set(['record', 'records', 'page', 'cursorPage', 'count', 'deleted', 'document']),
  tagged: true,
  send: (res, { value }) => {
    res.json(value)
  },
})
