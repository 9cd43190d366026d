// Sends bytes as they are and reads what comes back, so that nothing on the way tidies a request up.

import { connect, type Socket } from 'node:net'

/** A reply as it came. */
export interface RawReply {
  readonly status: number
  /** The status line and the headers. */
  readonly head: string
  /** By name in lower case, values of one name joined. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  /** What came behind the end of the reply. */
  readonly surplus: string
}

const PATIENCE = 120_000
const SILENCE = 120

/** Connections to one server, each of which carries one request after the other. */
export class Exchange {
  readonly #port: number
  readonly #idle: Socket[] = []

  constructor(port: number) {
    this.#port = port
  }

  /** @throws Error where no reply comes, or none that is HTTP */
  async send(bytes: Buffer, method: string): Promise<RawReply> {
    // One that the server has closed in the meantime says nothing.
    const kept = this.#idle.pop()
    const first = kept === undefined || kept.destroyed ? null : await this.#ask(kept, bytes, method)
    const reply = first ?? (await this.#ask(connect(this.#port, '127.0.0.1'), bytes, method))
    if (reply === null) throw new Error('the connection was closed without a reply')
    return reply
  }

  /** Everything that comes back until it is silent, where nobody knows how much is to come. */
  async sendBroken(bytes: Buffer): Promise<RawReply | null> {
    const socket = connect(this.#port, '127.0.0.1')
    const chunks: Buffer[] = []
    await new Promise<void>((resolve) => {
      socket.setTimeout(SILENCE, resolve)
      socket.on('data', (chunk) => chunks.push(chunk)).on('close', resolve)
      // A reset of the connection is an answer too.
      socket.on('error', () => resolve())
      socket.write(bytes)
    })
    socket.destroy()
    // Behind the first reply may stand more, to what the bytes that were left over were taken for.
    const reply = replyIn(Buffer.concat(chunks), 'GET', true) ?? replyIn(Buffer.concat(chunks), 'HEAD', true)
    return reply === null ? null : { ...reply, surplus: '' }
  }

  close(): void {
    for (const socket of this.#idle) socket.destroy()
  }

  #ask(socket: Socket, bytes: Buffer, method: string): Promise<RawReply | null> {
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0)
      const done = (reply: RawReply | null): void => {
        socket.removeAllListeners()
        socket.on('error', () => undefined)
        socket.setTimeout(0)
        if (reply === null || reply.headers.get('connection') === 'close') socket.destroy()
        else this.#idle.push(socket)
        resolve(reply)
      }
      const fail = (message: string): void => {
        socket.removeAllListeners()
        socket.on('error', () => undefined)
        socket.destroy()
        reject(new Error(message))
      }
      socket.setTimeout(PATIENCE, () => fail(`no reply within ${PATIENCE} ms`))
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk])
        const reply = replyIn(received, method, false)
        if (reply !== null) done(reply)
      })
      const over = (): void => {
        const reply = replyIn(received, method, true)
        if (reply !== null) done(reply)
        else if (received.length === 0) done(null)
        else fail(`the reply ends early: ${received.toString('latin1').slice(0, 200)}`)
      }
      // The server may close while it is still being sent to, its reply already on the way.
      socket.on('close', over).on('error', () => undefined)
      socket.write(bytes)
    })
  }
}

function readHead(head: string): Pick<RawReply, 'status' | 'head' | 'headers'> {
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? []
    const key = name.toLowerCase()
    const before = headers.get(key)
    headers.set(key, before === undefined ? value : `${before}, ${value}`)
  }
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1] ?? Number.NaN), head, headers }
}

/** Null where more has to come. `isOver` is whether no more will. */
function replyIn(received: Buffer, method: string, isOver: boolean): RawReply | null {
  const at = received.indexOf('\r\n\r\n')
  if (at < 0) return null
  const read = readHead(received.subarray(0, at).toString('latin1'))
  const rest = received.subarray(at + 4)
  if (read.status >= 100 && read.status < 200) return replyIn(rest, method, isOver)
  const whole = (body: Buffer, length: number): RawReply => ({
    ...read,
    body,
    surplus: rest.subarray(length).toString('latin1'),
  })
  if (method === 'HEAD' || read.status === 204 || read.status === 304) return whole(Buffer.alloc(0), 0)
  if (read.headers.get('transfer-encoding') === 'chunked') return chunked(rest, whole)
  const length = read.headers.get('content-length')
  if (length === undefined) return isOver ? whole(rest, rest.length) : null
  return rest.length < Number(length) ? null : whole(rest.subarray(0, Number(length)), Number(length))
}

function chunked(rest: Buffer, whole: (body: Buffer, length: number) => RawReply): RawReply | null {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const end = rest.indexOf('\r\n', at)
    if (end < 0) return null
    const size = Number.parseInt(rest.subarray(at, end).toString('latin1'), 16)
    if (rest.length < end + 2 + size + 2) return null
    if (size === 0) return whole(Buffer.concat(chunks), end + 4)
    chunks.push(rest.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}
