/** What the processes of the push benchmark say to each other. */

export interface Order {
  readonly id: number
  readonly product: string
  readonly total: number
  readonly status: string
  readonly cost: number
  readonly margin: number
}

/** What the masks of the guarded hub ask for. */
export const PERMISSIONS = ['costs', 'margins'] as const

export type Wish =
  /** Send this event so many times on the bare namespace. */
  { readonly kind: 'emit'; readonly events: number; readonly payload: Order } | { readonly kind: 'memory' }

export type Told =
  | { readonly kind: 'ready'; readonly port: number }
  /** In bytes, after a garbage collection. */
  | { readonly kind: 'memory'; readonly heapUsed: number; readonly rss: number }

/** To the process with the clients. */
export type Task =
  /** Connect so many to a namespace; the n-th has the n-th of the tokens, and so on from the start. */
  | {
      readonly kind: 'connect'
      readonly port: number
      readonly path: string
      readonly tokens: readonly string[]
      readonly clients: number
    }
  /** Say when so many events have come in, all clients together. */
  | { readonly kind: 'expect'; readonly events: number }
  | { readonly kind: 'close' }

export type Done = { readonly kind: 'done'; readonly task: Task['kind'] }
