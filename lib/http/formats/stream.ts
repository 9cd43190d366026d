import type { Response } from 'express'
import { isOfLeft } from '../../common/leaving.js'

/**
 * Writes pieces as fast as the client takes them, and no faster. Whatever makes them is told to end when the client is gone.
 * HEAD has the headers alone.
 */
export async function stream<T>(
  res: Response,
  pieces: AsyncIterable<T>,
  { head, text }: { readonly head: string; readonly text: (piece: T) => string },
): Promise<void> {
  if (res.req.method === 'HEAD') {
    res.end()
    return
  }
  if (head !== '') res.write(head)
  try {
    for await (const piece of pieces) {
      if (isGone(res)) return
      if (!res.write(text(piece))) await drained(res)
      if (isGone(res)) return
    }
  } catch (error) {
    // What was being read when the client went was ended, and has not failed.
    if (isGone(res) && isOfLeft(error)) return
    throw error
  }
  res.end()
}

function isGone(res: Response): boolean {
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
