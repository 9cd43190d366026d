import type { Request, Response } from 'express'
import type { Content } from '../../types/reply.js'
import { json } from './formats/json.js'

/** What a reply says where it says anything. */
export type Said = Exclude<Content, { kind: 'nothing' }>

/** A way to write replies. */
export interface Format {
  /** What the client has to accept. */
  readonly mediaType: string
  /** The kinds of replies that it can write. */
  readonly kinds: ReadonlySet<Said['kind']>
  /** Whether it is sent by Express as a whole, which then adds an entity tag. */
  readonly tagged: boolean
  /**
   * Writes it to the response, whose status and headers are set but for those of its own. It may write in pieces and
   * take its time: what it throws cuts the response off, and `onError` hears of it.
   */
  readonly send: (res: Response, content: Said) => void | Promise<void>
}

/** The table of formats. The first writes all kinds, and what the client accepts none for. */
export const FORMATS: readonly Format[] = Object.freeze([json])

/** The format of a reply: the one that the client likes best of those that can write it. */
export function formatFor(formats: readonly Format[], req: Request, res: Response, { kind }: Said): Format {
  const [first, ...others] = formats.filter(({ kinds }) => kinds.has(kind))
  if (first === undefined) throw new TypeError(`there is no format for ${kind}`)
  if (others.length === 0) return first
  res.vary('Accept')
  const accepted = req.accepts([first, ...others].map(({ mediaType }) => mediaType))
  return others.find(({ mediaType }) => mediaType === accepted) ?? first
}
