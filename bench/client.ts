import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A request that is fully prepared before the measurement. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly body?: string
}

export interface Reply {
  readonly status: number
  readonly head: string
  readonly text: string
}

/** Milliseconds of one round of requests: the total, and the latency of each request. */
export interface Round {
  readonly milliseconds: number
  readonly latencies: readonly number[]
}

/**
 * A client of one server with a fixed number of connections. To leave the processor to the server, it implements only a
 * part of HTTP. Each connection sends one request at a time. Responses need a Content-Length or chunks.
 */
export class Client {
  readonly #port: number
  readonly #connections: number
  readonly #headers: string

  constructor(port: number, connections: number, headers: Readonly<Record<string, string>>) {
    this.#port = port
    this.#connections = connections
    this.#headers = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
  }

  async request(call: Call): Promise<Reply> {
    const line = await Connection.open(this.#port)
    try {
      return await line.send(this.#serialize(call), true)
    } finally {
      line.close()
    }
  }

  /** Sends all requests. A connection sends its next request after the last response. */
  async run(calls: readonly Call[]): Promise<Round> {
    const ready = calls.map((call) => ({ call, bytes: this.#serialize(call) }))
    const latencies: number[] = []
    let next = 0
    const work = async (line: Connection): Promise<void> => {
      for (let one = ready[next++]; one !== undefined; one = ready[next++]) {
        const start = performance.now()
        const { status } = await line.send(one.bytes, false)
        latencies.push(performance.now() - start)
        if (status >= 300) throw new Error(`${one.call.method} ${one.call.path} answered ${status}`)
      }
    }
    // Each round opens new connections, because servers close idle connections while other servers are measured.
    const lines = await Promise.all(Array.from({ length: this.#connections }, () => Connection.open(this.#port)))
    const start = performance.now()
    try {
      await Promise.all(lines.map(work))
      return { milliseconds: performance.now() - start, latencies }
    } finally {
      for (const line of lines) line.close()
    }
  }

  #serialize({ method, path, body = '' }: Call): Buffer {
    const length = Buffer.byteLength(body)
    const own = length === 0 ? '' : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`
    return Buffer.from(
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${this.#port}\r\n${this.#headers}${own}\r\n${body}`,
    )
  }
}

const END = Buffer.from('\r\n\r\n')
const LAST = Buffer.from('\r\n0\r\n\r\n')

function decodeChunks(bytes: Buffer): string {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at)
    const length = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (length === 0) return Buffer.concat(parts).toString('utf8')
    parts.push(bytes.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}

/** A connection that sends one request at a time. */
class Connection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #keepsReply = false
  #resolve: (reply: Reply) => void = () => undefined
  #reject: (error: Error) => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', (error) => this.#reject(error))
    this.#socket.on('close', () => this.#reject(new Error('the server closed the connection')))
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    await once(socket, 'connect')
    return new Connection(socket)
  }

  close(): void {
    this.#reject = () => undefined
    this.#socket.destroy()
  }

  send(bytes: Buffer, keepsReply: boolean): Promise<Reply> {
    this.#keepsReply = keepsReply
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#socket.write(bytes)
    })
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const end = this.#received.indexOf(END)
    if (end < 0) return
    const head = this.#received.toString('latin1', 0, end)
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    if (/\r\ntransfer-encoding: chunked/i.test(head)) {
      this.#receiveChunked(head, end + END.length)
      return
    }
    if (length === undefined) {
      this.#reject(new Error(`a reply without its length\n${head}`))
      return
    }
    const start = end + END.length
    if (this.#received.length < start + Number(length)) return
    const text = this.#keepsReply ? this.#received.toString('utf8', start) : ''
    this.#received = Buffer.alloc(0)
    this.#resolve({ status: Number(head.slice(9, 12)), head, text })
  }

  /**
   * Reads chunks up to the last chunk. No other chunk of the workloads ends with the bytes of the last chunk, because
   * lines end with a brace.
   */
  #receiveChunked(head: string, start: number): void {
    if (this.#received.subarray(-LAST.length).equals(LAST)) {
      const text = this.#keepsReply ? decodeChunks(this.#received.subarray(start)) : ''
      this.#received = Buffer.alloc(0)
      this.#resolve({ status: Number(head.slice(9, 12)), head, text })
      return
    }
    // Only the end of the body is searched, if the body is not kept.
    if (!this.#keepsReply) {
      this.#received = Buffer.concat([
        this.#received.subarray(0, start),
        this.#received.subarray(Math.max(start, this.#received.length - LAST.length)),
      ])
    }
  }
}
