import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import { crudRouter, Problem, problemHandler } from 'sequelize-crud-router'
import { Server } from 'socket.io'
import type { Example } from '../server.js'
import { connect, Order } from './models.js'
import { seed } from './seed.js'

/** The page's files, which are served as they are. This file runs compiled, three folders below the root. */
const PUBLIC = fileURLToPath(new URL('../../../examples/live/public/', import.meta.url))

/** Scripts and styles of our own files only; text never becomes markup. */
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

/** Any page may open a WebSocket to any server, and the browser tells whose page it is. Programs tell nothing. */
function isOwnPage({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}

/** A page at /, one resource at /api/orders, and its changes at /api/orders/hub. */
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

/** The board of a server, for the place where it is mounted. */
export interface Board {
  readonly app: Express
  /** Disconnects its clients. */
  readonly close: () => Promise<void>
}

export function openBoard(server: HttpServer): Board {
  const io = new Server(server, {
    // Who comes back within two minutes is told what happened meanwhile.
    connectionStateRecovery: {},
    // The page listens, and sends nothing but its wish to be connected.
    maxHttpBufferSize: 10_000,
    allowRequest: (request, decide) => decide(null, isOwnPage(request)),
  })
  return { app: app(io), close: () => io.close() }
}

/** The example, ready to be served. */
export function live(): Example {
  let board: Board
  return {
    name: 'live',
    // It has no accounts: whoever reaches it may change everything.
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
