import type { Request } from '../../types/express.js'
import { isPending } from './pending.js'

export type OnError = (error: unknown, request: Request) => void

/** Hands an error on. What the host does with it is not waited for. */
export function report(error: unknown, req: Request, onError: OnError): void {
  // The reply is sent; an error handler that fails, now or later, must not take the process with it.
  try {
    const pending: unknown = onError(error, req)
    if (isPending(pending)) Promise.resolve(pending).catch(() => undefined)
  } catch {}
}
