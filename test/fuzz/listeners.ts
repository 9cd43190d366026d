// Callers who listen to what is pushed.

import { io as connect, type Socket } from 'socket.io-client'
import { CALLERS, type Caller } from './callers.js'
import { canariesIn } from './canaries.js'
import { oneOf, type Random } from './choose.js'
import { mayRead } from './rights.js'
import { SERVED, type Table, type TableName } from './tables.js'
import type { Truth } from './truth.js'
import { oddText, specialName } from './words.js'
import type { World } from './world.js'

interface Listener {
  readonly caller: Caller
  readonly table: Table
  readonly socket: Socket
  /** Every packet that the server has sent, as text. */
  readonly frames: string[]
}

export class Listeners {
  readonly #all: readonly Listener[]
  /** How many packets were looked at. */
  heard = 0

  constructor(all: readonly Listener[]) {
    this.#all = all
  }

  /**
   * What somebody was told since the last time that is not theirs to know. `isOverwritten` is whether a value may have stood in a row of a
   * table for a moment only, for whoever might see the row.
   */
  leaks(truth: Truth, isOverwritten: (canary: string, table: TableName) => boolean): string[] {
    return this.#all.flatMap(({ caller, table, frames }) =>
      frames.splice(0).flatMap((frame) => {
        this.heard += 1
        const found = [...canariesIn(frame)].filter(
          (canary) =>
            truth.isKnown(canary) && !truth.isOpenTo(canary, caller, 'all') && !isOverwritten(canary, table.name),
        )
        return found.map((canary) => `${caller.name} heard at ${table.path} of ${truth.tell(canary)}: ${frame}`)
      }),
    )
  }

  /** Says something that no hub listens to. */
  chatter(random: Random): void {
    const { socket } = oneOf(random, this.#all)
    const junk = [oddText(random), null, { [specialName(random)]: [1] }, Buffer.from('x'), ['OnCreated', 1]]
    socket.emit(
      oneOf(random, ['OnCreated', 'message', 'subscribe', 'join', specialName(random) || 'x']),
      oneOf(random, junk),
    )
  }

  close(): void {
    for (const { socket } of this.#all) socket.disconnect()
  }
}

/** @throws Error where somebody is let in who ought not to be, or the other way round */
export async function listen({ port, routers }: World): Promise<Listeners> {
  const hubs = SERVED.filter(({ pushed }) => pushed)
  const all = hubs.flatMap((table) => CALLERS.map((caller) => ({ table, caller })))
  const made = await Promise.all(
    all.map(async ({ table, caller }): Promise<Listener | null> => {
      const path = routers.get(table.name)?.resource.hub?.name ?? ''
      const token = caller.headers.authorization?.slice('Bearer '.length)
      const frames: string[] = []
      const socket = connect(`http://127.0.0.1:${port}${path}`, {
        forceNew: true,
        transports: ['websocket'],
        autoConnect: false,
        auth: token === undefined ? {} : { token },
      })
      socket.io.on('open', () => {
        socket.io.engine.on('packet', ({ data }) => frames.push(String(data)))
      })
      const isIn = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true)).once('connect_error', () => resolve(false))
        socket.connect()
      })
      const ought = caller.standing !== 'refused' && mayRead(table, caller)
      if (isIn !== ought) throw new Error(`${caller.name} was ${isIn ? 'let in' : 'refused'} at ${path}`)
      if (!isIn) socket.disconnect()
      return isIn ? { caller, table, socket, frames } : null
    }),
  )
  return new Listeners(made.filter((listener) => listener !== null))
}
