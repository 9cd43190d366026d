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
  const write = createWriter(out)
  let count = 0
  let text = head
  try {
    for await (const rows of batches) {
      if (isDestroyed(out)) return
      for (const row of rows) {
        text += line(row)
        if (text.length < PIECE_LENGTH) continue
        await write(text)
        await yieldToEventLoop()
        if (isDestroyed(out)) return
        text = ''
      }
      count += rows.length
      if (text !== '') await write(text)
      text = ''
      if (isDestroyed(out)) return
    }
  } catch (error) {
    // After the client has disconnected, an aborted read is not a failure.
    if (isDestroyed(out) && isDisconnectError(error)) return
    throw error
  }
  text += tail(count)
  if (text !== '') await write(text)
  out.end()
}

/**
 * Returns a function that writes a piece, and waits for the drain event when the buffer is full. All waits share one
 * listener, because the middleware `compression` moves listeners to its own stream, from which they cannot be removed.
 */
export function createWriter(out: OutgoingResponse): (piece: Buffer | string) => Promise<void> {
  let resume = (): void => undefined
  for (const event of ['drain', 'close']) out.on(event, () => resume())
  return async (piece) => {
    if (isDestroyed(out) || out.write(piece)) return
    await new Promise<void>((resolve) => {
      resume = resolve
    })
  }
}

export function isDestroyed(out: OutgoingResponse): boolean {
  return out.destroyed || out.writableEnded
}
