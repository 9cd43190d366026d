import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import { crudRouter, Problem, problemHandler } from 'sequelize-crud-router'
import { Server } from 'socket.io'
import type { Example } from '../server.js'
import { connect, Order } from './models.js'
import { seed } from './seed.js'

/** Folder of the page's files. This file is compiled to a folder three levels below the root. */
const PUBLIC = fileURLToPath(new URL('../../../examples/live/public/', import.meta.url))

/** Content Security Policy: the page uses only scripts and styles of its own files, and text never becomes markup. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/**
 * Whether a WebSocket request comes from this server's page, or from a program. Any page may open a WebSocket to any
 * server, but the browser sends the page's origin. Programs send no origin.
 */
function isOwnPage({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}

/** Serves a page at /, one resource at /api/orders, and its push events at /api/orders/hub. */
function app(io: Server): Express {
  const board = express().disable('x-powered-by')

  board.use((_req, res, next) => {
    res.set({
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    })
    next()
  })
  board.use(express.static(PUBLIC, { cacheControl: false, setHeaders: (res) => res.set('Cache-Control', 'no-cache') }))

  board.use(crudRouter(Order, { concurrency: true, push: { io } }))

  board.use(() => {
    throw new Problem({ status: 404 })
  })
  board.use(problemHandler())
  return board
}

/** The board, as an application that another application can mount. */
export interface Board {
  readonly app: Express
  /** Disconnects the clients of the board. */
  readonly close: () => Promise<void>
}

export function openBoard(server: HttpServer): Board {
  const io = new Server(server, {
    // A client that reconnects within two minutes receives its missed events.
    connectionStateRecovery: {},
    // Clients only receive events, so they need not send large messages.
    maxHttpBufferSize: 10_000,
    allowRequest: (request, decide) => decide(null, isOwnPage(request)),
  })
  return { app: app(io), close: () => io.close() }
}

/** Creates the example. */
export function live(): Example {
  let board: Board
  return {
    name: 'live',
    // The example has no accounts, so every caller may change everything. The server accepts connections only from this
    // machine.
    host: 'localhost',
    connect,
    seed,
    app: (server) => {
      board = openBoard(server)
      return board.app
    },
    release: () => board.close(),
  }
}
