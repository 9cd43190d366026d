import type { FuzzRequest } from './request.js'

/** What was found, and how to see it again. */
export interface Finding {
  readonly index: number
  readonly what: string
  /** A command that sends the request, or says what to send. */
  readonly request: string
  readonly reply: string
  /** The requests that may have done it, for it to be seen again. */
  readonly of?: readonly FuzzRequest[]
}

/** A request as a command for a shell, at `$URL`. */
export function shellOf({ method, target, headers, body, broken, bytes }: FuzzRequest): string {
  if (broken) return `printf %s ${bytes.toString('base64')} | base64 -d | nc $HOST $PORT`
  const parts = ['curl', '-sig', '--path-as-is', '-X', method, quoted(`$URL${target}`)]
  for (const [name, value] of headers) parts.push('-H', quoted(value === '' ? `${name};` : `${name}: ${value}`))
  if (body === null) return parts.join(' ')
  const text = body.toString('utf8')
  const isText = Buffer.from(text).equals(body) && !text.includes('\0')
  if (isText) return [...parts, '--data-raw', quoted(text)].join(' ')
  return `printf %s ${body.toString('base64')} | base64 -d | ${parts.join(' ')} --data-binary @-`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`.replace("'$URL", `"$URL"'`)
}

export function printed(seed: number, { index, what, request, reply }: Finding): string {
  return `FUZZ_SEED=${seed}, request ${index}: ${what}\n  ${shortened(request, 3000)}\n  ${shortened(reply, 1500)}`
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}... (${text.length} characters)`
}
