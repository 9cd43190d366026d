/** Messages between the processes of the push benchmark. */

export interface Order {
  readonly id: number
  readonly product: string
  readonly total: number
  readonly status: string
  readonly cost: number
  readonly margin: number
}

/** Permissions that the masks of the guarded hub check. */
export const PERMISSIONS = ['costs', 'margins'] as const

export type ServerTask =
  /** Sends an event a number of times on the bare namespace. */
  { readonly kind: 'emit'; readonly events: number; readonly payload: Order } | { readonly kind: 'memory' }

export type ServerReply =
  | { readonly kind: 'ready'; readonly port: number }
  /** Memory in bytes, after a garbage collection. */
  | { readonly kind: 'memory'; readonly heapUsed: number; readonly rss: number }

/** Messages to the client process. */
export type Task =
  /** Connects a number of clients to a namespace. Tokens are assigned in turn. */
  | {
      readonly kind: 'connect'
      readonly port: number
      readonly path: string
      readonly tokens: readonly string[]
      readonly clients: number
    }
  /** Reports when all clients together have received a number of events. */
  | { readonly kind: 'expect'; readonly events: number }
  | { readonly kind: 'close' }

export type Done = { readonly kind: 'done'; readonly task: Task['kind'] }
