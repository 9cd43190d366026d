import { getOrCreate } from '../common/getOrCreate.js'

/**
 * Half of the grace period, in milliseconds. An event that is missing for the whole period counts as lost. Events may
 * arrive after later events, or after the heartbeat that counts them.
 */
const HALF_GRACE_PERIOD = 250

/** Event numbers of one server on one hub. */
interface Sender {
  /** All events up to this number have arrived. */
  arrived: number
  /** The highest number that has arrived or was announced. */
  sent: number
  /** Numbers of arrived events that follow a missing event. */
  readonly outOfOrder: Set<number>
}

export interface GapDetectorSettings {
  /** Whether this server has clients that could have missed an event. */
  readonly hasListeners: () => boolean
  /** Called when events of another server did not arrive. */
  readonly onMissed: () => void
}

/** Detects missing events of one hub. Each server of the cluster numbers the events that it sends. */
export class GapDetector {
  readonly #settings: GapDetectorSettings
  readonly #senders = new Map<string, Sender>()
  #sent = 0
  #timer: NodeJS.Timeout | null = null

  constructor(settings: GapDetectorSettings) {
    this.#settings = settings
  }

  /** Number of events that this server has sent. */
  get sentCount(): number {
    return this.#sent
  }

  /** Returns the number of this server's next event. A number without an event is a gap for the other servers. */
  nextNumber(): number {
    this.#sent += 1
    return this.#sent
  }

  /** Records that an event of another server has arrived. */
  noteArrival(server: string, number: number): void {
    const sender = this.#getSender(server, number - 1)
    if (number > sender.arrived) sender.outOfOrder.add(number)
    sender.sent = Math.max(sender.sent, number)
    absorbOutOfOrder(sender)
    this.#scheduleCheck()
  }

  /** Records how many events another server has sent. */
  noteSent(server: string, count: number): void {
    const sender = this.#getSender(server, count)
    sender.sent = Math.max(sender.sent, count)
    this.#scheduleCheck()
  }

  /** Removes a server that has left the cluster. */
  forget(server: string): void {
    this.#senders.delete(server)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#senders.clear()
  }

  /**
   * Returns the state of another server. Earlier events of a new server are ignored if this server has no clients,
   * because clients list the records after they connect.
   */
  #getSender(server: string, before: number): Sender {
    return getOrCreate(this.#senders, server, () => {
      const arrived = this.#settings.hasListeners() ? 0 : before
      return { arrived, sent: arrived, outOfOrder: new Set() }
    })
  }

  /** Checks after the grace period whether the missing events have arrived. */
  #scheduleCheck(): void {
    if (this.#timer !== null) return
    const missing = [...this.#senders.values()].filter(hasGap).map((sender) => [sender, sender.sent] as const)
    if (missing.length === 0) return
    const look = (): void => {
      this.#timer = null
      const lost = missing.filter(([{ arrived }, sent]) => arrived < sent)
      for (const [sender, sent] of lost) skipTo(sender, sent)
      if (lost.length > 0) this.#settings.onMissed()
      this.#scheduleCheck()
    }
    // Two timers follow each other. If the process was blocked, Node.js reads received messages between the timers.
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(look, HALF_GRACE_PERIOD).unref()
    }, HALF_GRACE_PERIOD).unref()
  }
}

function hasGap({ arrived, sent }: Sender): boolean {
  return arrived < sent
}

function absorbOutOfOrder(sender: Sender): void {
  while (sender.outOfOrder.delete(sender.arrived + 1)) sender.arrived += 1
}

function skipTo(sender: Sender, number: number): void {
  sender.arrived = number
  for (const each of sender.outOfOrder) if (each <= number) sender.outOfOrder.delete(each)
  absorbOutOfOrder(sender)
}
