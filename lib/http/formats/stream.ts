import type { Call } from '../../../types/call.js'
import { isOfLeft } from '../../common/leaving.js'
import { nextTurn } from '../../common/turns.js'
import type { Outgoing } from '../outgoing.js'

/** Characters of lines that are joined before a write. */
const PIECE = 64 * 1024

/** Writes lines with backpressure. If the client disconnects, the source of the batches is aborted. HEAD sends headers only. */
export async function stream<T>(
  out: Outgoing,
  { method }: Call,
  batches: AsyncIterable<readonly T[]>,
  {
    head,
    line,
    tail,
  }: { readonly head: string; readonly line: (row: T) => string; readonly tail: (count: number) => string },
): Promise<void> {
  if (method === 'HEAD') {
    out.end()
    return
  }
  let count = 0
  let text = head
  try {
    for await (const rows of batches) {
      if (isGone(out)) return
      for (const row of rows) {
        text += line(row)
        if (text.length < PIECE) continue
        await write(out, [text])
        await nextTurn()
        if (isGone(out)) return
        text = ''
      }
      count += rows.length
      if (text !== '') await write(out, [text])
      text = ''
      if (isGone(out)) return
    }
  } catch (error) {
    // An aborted read is no failure after the client has disconnected.
    if (isGone(out) && isOfLeft(error)) return
    throw error
  }
  text += tail(count)
  await write(out, text === '' ? [] : [text])
  out.end()
}

/** Writes pieces, and waits for the drain event when the buffer is full. */
export async function write(out: Outgoing, pieces: readonly (Buffer | string)[]): Promise<void> {
  for (const piece of pieces) {
    if (isGone(out)) return
    if (!out.write(piece)) await drained(out)
  }
}

export function isGone(out: Outgoing): boolean {
  return out.destroyed || out.writableEnded
}

function drained(out: Outgoing): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      out.off('drain', done)
      out.off('close', done)
      resolve()
    }
    out.on('drain', done)
    out.on('close', done)
  })
}
