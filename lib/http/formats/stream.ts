import type { Response } from 'express'
import { isOfLeft } from '../../common/leaving.js'
import { nextTurn } from '../../common/turns.js'

/** Characters of lines that are put together before they are written. */
const PIECE = 64 * 1024

/**
 * Writes lines as fast as the client takes them, and no faster. Whatever makes their batches is told to end when the client is gone.
 * HEAD has the headers alone.
 */
export async function stream<T>(
  res: Response,
  batches: AsyncIterable<readonly T[]>,
  {
    head,
    line,
    tail,
  }: { readonly head: string; readonly line: (row: T) => string; readonly tail: (count: number) => string },
): Promise<void> {
  if (res.req.method === 'HEAD') {
    res.end()
    return
  }
  let count = 0
  let text = head
  try {
    for await (const rows of batches) {
      if (isGone(res)) return
      for (const row of rows) {
        text += line(row)
        if (text.length < PIECE) continue
        await write(res, [text])
        await nextTurn()
        if (isGone(res)) return
        text = ''
      }
      count += rows.length
      if (text !== '') await write(res, [text])
      text = ''
      if (isGone(res)) return
    }
  } catch (error) {
    // What was being read when the client went was ended, and has not failed.
    if (isGone(res) && isOfLeft(error)) return
    throw error
  }
  text += tail(count)
  await write(res, text === '' ? [] : [text])
  res.end()
}

/** Writes pieces, each once the client has taken enough of those before. */
export async function write(res: Response, pieces: readonly (Buffer | string)[]): Promise<void> {
  for (const piece of pieces) {
    if (isGone(res)) return
    if (!res.write(piece)) await drained(res)
  }
}

export function isGone(res: Response): boolean {
  return res.destroyed || res.writableEnded
}

function drained(res: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.on('drain', done)
    res.on('close', done)
  })
}
