// PostgreSQL's cancel request: a separate connection sends the process id and secret key of the connection to cancel.
// The request cannot cancel any other connection, and poolers such as PgBouncer forward the request.

import { createConnection, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import type { Connection } from './connections.js'

/** Members of a `pg` client that a cancel request needs. */
interface PgClient {
  readonly processID?: unknown
  readonly secretKey?: unknown
  readonly host?: string
  readonly port?: number
  readonly ssl?: object | boolean
  readonly sslNegotiation?: string
  readonly connection?: { readonly stream?: Socket }
}

const TLS_REQUEST = 80_877_103
const CANCEL_REQUEST = 80_877_102

function message(code: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + body.length, 0)
  head.writeInt32BE(code, 4)
  return Buffer.concat([head, body])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value, 0)
  return bytes
}

/** Builds the cancel request for a connection. Returns null if the driver does not know the secret key. */
function encodeCancelRequest({ processID, secretKey }: PgClient): Buffer | null {
  if (typeof processID !== 'number') return null
  // In protocol 3.2 the length of a secret key varies.
  if (Buffer.isBuffer(secretKey)) return message(CANCEL_REQUEST, int32(processID), secretKey)
  return typeof secretKey === 'number' ? message(CANCEL_REQUEST, int32(processID), int32(secretKey)) : null
}

/** Connects to the network address of a connection, because its host name may resolve to another address by now. */
function connectToServer({ host = '', port = 5432, connection }: PgClient): Socket {
  const { remoteAddress, remotePort } = connection?.stream ?? {}
  if (remoteAddress !== undefined) return createConnection({ host: remoteAddress, port: remotePort ?? port })
  return host.startsWith('/') ? createConnection(`${host}/.s.PGSQL.${port}`) : createConnection({ host, port })
}

/** Returns the TLS options that `pg` uses. `pg` makes `key` non-enumerable, so `key` is copied by name. */
function tlsOptions({ host = '', ssl, sslNegotiation }: PgClient): ConnectionOptions {
  const given: ConnectionOptions = Object(ssl === true ? {} : ssl)
  return {
    host,
    ...given,
    ...(given.key === undefined ? {} : { key: given.key }),
    ...(sslNegotiation === 'direct' ? { ALPNProtocols: ['postgresql'] } : {}),
    // RFC 6066 does not allow IP addresses as server names.
    ...(isIP(host) === 0 ? { servername: host } : {}),
  }
}

/**
 * Sends a cancel request and waits until the server closes the connection, which the server does after forwarding the
 * request. The client side stays open, because PgBouncer treats a half-closed connection as a disconnected client.
 * Resolves to false if the request was not delivered. Sends nothing if the request is no longer needed.
 */
export function requestCancel(connection: Connection, milliseconds: number, isNeeded: () => boolean): Promise<boolean> {
  const client = connection as PgClient
  const request = encodeCancelRequest(client)
  if (request === null) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connectToServer(client)
    let isSent = false
    const finish = (isDelivered: boolean): void => {
      socket.destroy()
      resolve(isDelivered)
    }
    const fail = (): void => finish(false)
    const send = (stream: Socket): void => {
      if (isNeeded()) stream.write(request, (error) => (isSent = !error))
      else finish(true)
    }
    socket.setTimeout(milliseconds, fail).once('error', fail)
    socket.once('close', () => finish(isSent))
    const startTls = (): void => {
      const stream = connectTls({ ...tlsOptions(client), socket })
      stream.once('error', fail).once('secureConnect', () => send(stream))
    }
    socket.once('connect', () => {
      if (!client.ssl) return send(socket)
      if (client.sslNegotiation === 'direct') return startTls()
      socket.write(message(TLS_REQUEST))
      socket.once('data', (answer) => (answer.toString('latin1') === 'S' ? startTls() : fail()))
    })
  })
}
