import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

/** A parsed curl command. */
export interface Curl {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** Response of a server. */
export interface Reply {
  readonly status: number
  readonly statusText: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Splits a POSIX shell command into words. Quotes group characters, and a backslash escapes the next character. */
export function shellWords(command: string): readonly string[] {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let at = 0; at < command.length; at += 1) {
    const character = command.charAt(at)
    if (quote === "'" && character !== "'") word += character
    else if (character === quote) quote = ''
    else if (character === '\\') {
      at += 1
      // A backslash before a line break continues the command.
      if (command.charAt(at) !== '\n') word = (word ?? '') + command.charAt(at)
    } else if (quote === '"') {
      if (character === '$' || character === '`') throw new SyntaxError(`the shell would expand ${command}`)
      word += character
    } else if (character === "'" || character === '"') {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word)
      word = null
    } else if (/[&|;<>()$`*?[\]{}#~!]/.test(character)) {
      throw new SyntaxError(`the shell would read "${character}" in ${command}: put it in quotes`)
    } else word = (word ?? '') + character
  }
  if (quote !== '') throw new SyntaxError(`the quotes do not close in ${command}`)
  return word === null ? words : [...words, word]
}

const FLAGS: ReadonlySet<string> = new Set(['-g', '-i', '-s'])

/**
 * Parses a curl command with the options that the documents use. Rejects a command that the shell or curl would reject.
 */
export function readCurl(command: string): Curl {
  const [program, ...words] = shellWords(command)
  if (program !== 'curl') throw new SyntaxError(`not a curl command: ${command}`)
  const headers: Record<string, string> = {}
  let method: string | null = null
  let url: string | null = null
  let body: string | null = null
  let isGlobbed = true
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const value = (): string => {
      at += 1
      const next = words[at]
      if (next === undefined) throw new SyntaxError(`${word} needs a value in ${command}`)
      return next
    }
    if (FLAGS.has(word)) isGlobbed &&= word !== '-g'
    else if (word === '-X') method = value()
    else if (word === '-d') body = value()
    else if (word === '-H') {
      const [name = '', ...rest] = value().split(':')
      headers[name.toLowerCase()] = rest.join(':').trim()
    } else if (word.startsWith('-')) throw new SyntaxError(`no test knows ${word} in ${command}`)
    else if (url === null) url = word
    else throw new SyntaxError(`two addresses in ${command}`)
  }
  if (url === null) throw new SyntaxError(`no address in ${command}`)
  if (/\s/.test(url)) throw new SyntaxError(`curl refuses a blank in ${url}`)
  if (isGlobbed && /[[\]{}]/.test(url)) throw new SyntaxError(`curl would expand ${url}: it needs -g`)
  if (body !== null && headers['content-type'] === undefined) {
    headers['content-type'] = 'application/x-www-form-urlencoded'
  }
  return {
    method: method ?? (body === null ? 'GET' : 'POST'),
    url: url.replace(/^(?!https?:)/, 'http://'),
    headers,
    body,
  }
}

/** Sends a request as curl does. The characters of the URL are not encoded. */
export async function sendCurl({ method, url, headers, body }: Curl, port: number): Promise<Reply> {
  const [, host = '', path = '/'] = /^https?:\/\/([^/?#]+)([^#]*)/.exec(url) ?? []
  const options = { host: host.replace(/:\d+$/, ''), port, method, path, headers, agent: false } as const
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(options, resolve)
      .once('error', reject)
      .end(body ?? undefined)
  })
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(Buffer.from(chunk))
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
  }
}

/** Port in the URL of a curl command. */
export function portOf({ url }: Curl): number {
  return Number(new URL(url).port || 80)
}
