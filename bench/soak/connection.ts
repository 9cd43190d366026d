import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface Call {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Parsed body: JSON, or all records of JSON lines. undefined for other types. */
  readonly body: unknown
}

/** Error of a request whose connection the client itself has cut. */
export class Cut extends Error {}

/** A keep-alive connection to the application. */
export class Connection {
  readonly #port: number
  readonly #patience: number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  /** @param patience milliseconds after which a request counts as hanging */
  constructor(port: number, patience: number) {
    this.#port = port
    this.#patience = patience
  }

  close(): void {
    this.#agent.destroy()
  }

  /**
   * Sends a request. Rejects if the connection breaks or no response arrives in time.
   *
   * @param cutAfter milliseconds after which the client cuts the connection
   */
  send({ method, path, headers = {}, body }: Call, cutAfter?: number): Promise<Reply> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const own =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path }
      const outgoing = request({ ...options, headers: { ...headers, ...own } }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', (error) => {
          done()
          reject(error)
        })
        answer.on('end', () => {
          done()
          const bodyText = Buffer.concat(chunks).toString()
          const { statusCode = 0, headers: replyHeaders } = answer
          resolve({
            status: statusCode,
            headers: replyHeaders,
            text: bodyText,
            body: bodyOf(replyHeaders['content-type'] ?? '', bodyText),
          })
        })
      })
      const timer = setTimeout(() => outgoing.destroy(new Error(`no answer in ${this.#patience} ms`)), this.#patience)
      const cut = cutAfter === undefined ? undefined : setTimeout(() => outgoing.destroy(new Cut()), cutAfter)
      const done = (): void => {
        clearTimeout(timer)
        clearTimeout(cut)
      }
      outgoing.on('error', (error) => {
        done()
        reject(error)
      })
      outgoing.end(text)
    })
  }
}

function bodyOf(type: string, bodyText: string): unknown {
  if (!/json/.test(type)) return undefined
  if (!type.startsWith('application/jsonl')) return bodyText === '' ? undefined : parsed(bodyText)
  return bodyText
    .split('\n')
    .filter((line) => line !== '')
    .map(parsed)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
