// The middleware `compression` writes responses by a stream of its own, to which it gives the listeners of `drain`.

import type { EventEmitter } from 'node:events'
import { createGzip } from 'node:zlib'
import test from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { allowUndocumented } from '../../support/replies.js'
import { openStage } from '../../support/stage.js'

/** Compresses responses as `compression` does: listeners of `drain` cannot be removed from the stream. */
function compression(streams: EventEmitter[]): RequestHandler {
  return (_req, res, next) => {
    const gzip = createGzip()
    streams.push(gzip)
    const { write, end, on } = res
    gzip.on('data', (chunk: Buffer) => {
      if (!Reflect.apply(write, res, [chunk])) gzip.pause()
    })
    gzip.on('end', () => Reflect.apply(end, res, []))
    Reflect.apply(on, res, ['drain', () => gzip.resume()])
    const compress = (chunk: Buffer | string): boolean => {
      if (!res.headersSent) {
        res.removeHeader('Content-Length')
        res.setHeader('Content-Encoding', 'gzip')
      }
      return gzip.write(chunk)
    }
    Object.assign(res, {
      write: compress,
      end: (chunk?: Buffer | string) => {
        if (chunk !== undefined) compress(chunk)
        gzip.end()
      },
      on: (event: string, listener: () => void) => {
        if (event === 'drain') gzip.on(event, listener)
        else Reflect.apply(on, res, [event, listener])
        return res
      },
    })
    next()
  }
}

test('long responses keep one listener of drain, also on the stream of a compressing middleware', async (t) => {
  const streams: EventEmitter[] = []
  const server = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('Note', { text: DataTypes.STRING(2000) }, { timestamps: false })
    // The comparison with the document reads bodies as the response writes them: compressed.
    allowUndocumented(app)
    app.use(compression(streams), crudRouter(Note, { operations: Operations.GetList + Operations.Export }))
    return { Note }
  })
  t.teardown(server.close)
  const text = (index: number): string => `${index} `.repeat(2000).slice(0, 1900)
  const notes = Array.from({ length: 1000 }, (_, index) => ({ text: text(index) }))
  await server.Note.bulkCreate(notes.slice(0, 500))
  await server.Note.bulkCreate(notes.slice(500))
  for (const path of ['/api/notes?format=csv', '/api/notes?pageSize=1000']) {
    const response = await fetch(server.url + path)
    const body = await response.text()
    t.is(response.headers.get('content-encoding'), 'gzip')
    t.true(body.length > 1_900_000)
    t.true(body.includes(text(999)))
    t.is(streams.at(-1)?.listenerCount('drain'), 1)
  }
})
