// Connections to the hubs that speak at random: nobody listens to what clients say, and nothing may end the process.

import { WebSocket } from 'ws'
import { CALLERS } from './callers.js'
import { canariesIn } from './canaries.js'
import { chance, oneOf, type Random, several } from './choose.js'
import { spoilt } from './mutate.js'
import { SERVED } from './tables.js'
import type { Truth } from './truth.js'
import { oddText, specialName } from './words.js'
import type { World } from './world.js'

const QUIET = 30
const PATIENCE = 5000

/** One connection from beginning to end. */
export async function socketSession(
  { port, routers }: World,
  truth: Truth,
  random: Random,
): Promise<{ readonly findings: readonly string[]; readonly heard: number }> {
  const caller = oneOf(random, CALLERS)
  const hub = oneOf(
    random,
    SERVED.filter(({ pushed }) => pushed),
  )
  const path = routers.get(hub.name)?.resource.hub?.name ?? '/'
  const token = caller.headers.authorization?.slice('Bearer '.length)
  const greeting = `40${path},${JSON.stringify(token === undefined ? {} : { token })}`
  const packets = [
    chance(random, 0.7) ? greeting : spoilt(random, Buffer.from(greeting)).toString('latin1'),
    ...several(random, 1, 6, () => packet(random, path)),
  ]
  const frames = await exchanged(
    `ws://127.0.0.1:${port}/socket.io/?EIO=${chance(random, 0.95) ? 4 : 3}&transport=websocket`,
    packets,
  )
  const said = canariesIn(packets.join('\n'))
  const findings = frames.flatMap((frame) => {
    const found = [...canariesIn(frame)].filter(
      (canary) => !said.has(canary) && truth.isKnown(canary) && !truth.isOpenTo(canary, caller, 'all'),
    )
    return found.map((canary) => `${caller.name} heard at ${path} of ${truth.tell(canary)}: ${frame}`)
  })
  return { findings, heard: frames.length }
}

function packet(random: Random, path: string): string {
  const event = oneOf(random, ['OnCreated', 'subscribe', 'join', 'disconnect', 'connect', 'error', specialName(random)])
  const value = oneOf<unknown>(random, [
    1,
    null,
    [],
    {},
    { room: '*' },
    { _placeholder: true, num: 0 },
    oddText(random).slice(0, 3000),
  ])
  const text = JSON.stringify([event, value])
  return oneOf(random, [
    `42${path},${text}`,
    `42${path},1${text}`,
    `43${path},1${text}`,
    `451-${path},["x",{"_placeholder":true,"num":0}]`,
    `45999999999-${path},${text}`,
    `44${path},{}`,
    `41${path},`,
    `40${path},{}`,
    '2probe',
    '3',
    '6',
    oddText(random).slice(0, 3000),
    `42${path},${'['.repeat(2000)}`,
  ])
}

/** Every text that came back until the connection was silent or closed. */
function exchanged(url: string, packets: readonly string[]): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const frames: string[] = []
    const socket = new WebSocket(url)
    const done = (): void => {
      clearTimeout(silence)
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      socket.terminate()
      resolve(frames)
    }
    let silence = setTimeout(done, PATIENCE)
    socket.on('error', done).on('close', done)
    socket.on('message', (data) => {
      frames.push(String(data))
      silence.refresh()
    })
    socket.on('open', () => {
      clearTimeout(silence)
      for (const text of packets) socket.send(text)
      silence = setTimeout(done, QUIET)
    })
  })
}
