import type { Request } from '../../types/express.js'
import { isPromise } from './promise.js'

export type OnError = (error: unknown, request: Request) => void

/** Passes an error to the host's handler without waiting for it. */
export function reportError(error: unknown, req: Request, onError: OnError): void {
  // The reply is already sent, and an error handler that fails must not end the process.
  try {
    const pending: unknown = onError(error, req)
    if (isPromise(pending)) Promise.resolve(pending).catch(() => undefined)
  } catch {}
}
