import type { IncomingHttpHeaders } from 'node:http'

/** The media type of JSON lines, with one JSON text per line. Allowed for arrays. */
export const LINES = 'application/jsonl'

/** Returns the JSON texts of a body of JSON lines. Blank lines are skipped. */
export function splitJsonLines(body: string): readonly string[] {
  return body
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((text) => text !== '')
}

/** Returns the media type of a message in lower case, without parameters. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  return type.trim().toLowerCase()
}
