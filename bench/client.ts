import { Agent, request } from 'node:http'

/** One request, ready to be sent: nothing is left to be done inside the measured time. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly body?: string
}

export interface Reply {
  readonly status: number
  readonly body: unknown
}

/** A keep-alive client of one server with a fixed number of connections. */
export class Client {
  readonly #port: number
  readonly #connections: number
  readonly #agent: Agent

  readonly #headers: Readonly<Record<string, string>>

  constructor(port: number, connections: number, headers: Readonly<Record<string, string>>) {
    this.#headers = headers
    this.#port = port
    this.#connections = connections
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  close(): void {
    this.#agent.destroy()
  }

  /** One request, its answer read and parsed. */
  async ask(call: Call): Promise<Reply> {
    const { status, text } = await this.#send(call, true)
    return { status, body: JSON.parse(text) }
  }

  /** Sends all requests, each connection the next one when its last is answered. Milliseconds. */
  async run(calls: readonly Call[]): Promise<number> {
    let next = 0
    const work = async (): Promise<void> => {
      for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
        const { status } = await this.#send(call, false)
        if (status >= 300) throw new Error(`${call.method} ${call.path} answered ${status}`)
      }
    }
    const start = performance.now()
    await Promise.all(Array.from({ length: this.#connections }, work))
    return performance.now() - start
  }

  #send({ method, path, body }: Call, keep: boolean): Promise<{ status: number; text: string }> {
    const own =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const headers = { ...this.#headers, ...own }
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => {
            if (keep) chunks.push(chunk)
          })
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
          answer.on('error', reject)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
}
