import type { Call } from '../../../types/call.js'
import type { ExportContent } from '../../../types/reply.js'
import { isDisconnectError } from '../../common/disconnect.js'
import { yieldToEventLoop } from '../../common/eventLoop.js'
import { internalError } from '../../common/internalError.js'
import type { BodyContent } from '../formats.js'
import type { OutgoingResponse } from '../outgoing.js'

/** The number of characters to collect before a write. */
const PIECE_LENGTH = 64 * 1024

/** Returns the export in the content of a reply. @throws TypeError for other content */
export function exportOf(content: BodyContent): ExportContent {
  if (content.kind !== 'export') throw internalError(`a response of kind "${content.kind}" cannot be written as a file`)
  return content.value
}

/**
 * Writes lines with backpressure. If the client disconnects, the batches are not read further. HEAD sends headers only.
 */
export async function writeStream<T>(
  out: OutgoingResponse,
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
      if (isDestroyed(out)) return
      for (const row of rows) {
        text += line(row)
        if (text.length < PIECE_LENGTH) continue
        await writePieces(out, [text])
        await yieldToEventLoop()
        if (isDestroyed(out)) return
        text = ''
      }
      count += rows.length
      if (text !== '') await writePieces(out, [text])
      text = ''
      if (isDestroyed(out)) return
    }
  } catch (error) {
    // After the client has disconnected, an aborted read is not a failure.
    if (isDestroyed(out) && isDisconnectError(error)) return
    throw error
  }
  text += tail(count)
  await writePieces(out, text === '' ? [] : [text])
  out.end()
}

/** Writes pieces, and waits for the drain event when the buffer is full. */
export async function writePieces(out: OutgoingResponse, pieces: readonly (Buffer | string)[]): Promise<void> {
  for (const piece of pieces) {
    if (isDestroyed(out)) return
    if (!out.write(piece)) await waitForDrain(out)
  }
}

export function isDestroyed(out: OutgoingResponse): boolean {
  return out.destroyed || out.writableEnded
}

function waitForDrain(out: OutgoingResponse): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      out.off('drain', finish)
      out.off('close', finish)
      resolve()
    }
    out.on('drain', finish)
    out.on('close', finish)
  })
}
