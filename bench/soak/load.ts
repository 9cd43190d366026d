import { setTimeout as sleep } from 'node:timers/promises'
import { generator } from '../data.js'
import { Caller } from './caller.js'
import { Connection } from './connection.js'
import { Listener } from './listener.js'
import { Partition } from './partition.js'
import type { Tally } from './tally.js'

/** Speed of all connections. The speed may be changed at any time. */
export interface Pace {
  /** Average milliseconds between two requests of a connection. */
  think: number
}

export interface Load {
  readonly partitions: readonly Partition[]
  /** Resolves when every connection has finished its last request, and every uncertain outcome is known. */
  readonly stop: () => Promise<void>
}

/** Milliseconds after which a request without a response counts as hanging. */
const HANG = 60_000

/**
 * Sends requests on a number of connections. Each connection writes the records of its own partition, and reads records
 * of any partition.
 */
export async function startLoad(port: number, connections: number, pace: Pace, totals: Tally): Promise<Load> {
  const partitions = Array.from({ length: connections }, (_, owner) => new Partition(owner))
  const listener = new Listener(port, totals)
  let isOver = false
  const callers = partitions.map((own) => {
    return new Caller(new Connection(port, HANG), own, partitions, generator(own.owner + 1), totals, listener)
  })
  await listener.ready()
  await Promise.all(callers.map((caller) => caller.prepare()))
  const running = callers.map(async (caller) => {
    try {
      while (!isOver || !(caller.isSettled || totals.failures.length > 0)) {
        await sleep(pace.think * (0.5 + Math.random()))
        await caller.next()
      }
    } catch (error) {
      totals.fail(`the load itself: ${error instanceof Error ? error.stack : String(error)}`)
    } finally {
      caller.close()
    }
  })
  return {
    partitions,
    stop: async () => {
      isOver = true
      await Promise.all(running)
      await listener.close()
    },
  }
}
