/** Half of the milliseconds in which events may arrive behind later ones, or behind the word that they were sent. */
const GRACE = 250

/** Numbers of the events of one server on one hub. */
interface Sender {
  /** All events up to this number have arrived. */
  arrived: number
  /** The highest number that has arrived or was announced. */
  sent: number
  /** Numbers of events that have arrived behind a gap. */
  readonly ahead: Set<number>
}

export interface ContinuitySettings {
  /** Whether there is anybody here who could have missed an event. */
  readonly hasListeners: () => boolean
  /** Called for events that were sent and did not arrive. */
  readonly missed: () => void
}

/** Finds gaps in the events of one hub: each server of a cluster numbers those that it sends. */
export class Continuity {
  readonly #settings: ContinuitySettings
  readonly #senders = new Map<string, Sender>()
  #sent = 0
  #timer: NodeJS.Timeout | null = null

  constructor(settings: ContinuitySettings) {
    this.#settings = settings
  }

  /** How many events this server has sent. */
  get sent(): number {
    return this.#sent
  }

  /** The number of the next event of this server; one that is not sent is a gap to the others. */
  next(): number {
    this.#sent += 1
    return this.#sent
  }

  /** Notes an event of another server. */
  arrived(server: string, number: number): void {
    const sender = this.#senderOf(server, number - 1)
    if (number > sender.arrived) sender.ahead.add(number)
    sender.sent = Math.max(sender.sent, number)
    absorb(sender)
    this.#watch()
  }

  /** Notes how many events another server has sent. */
  told(server: string, count: number): void {
    const sender = this.#senderOf(server, count)
    sender.sent = Math.max(sender.sent, count)
    this.#watch()
  }

  /** Forgets a server that is gone. */
  forget(server: string): void {
    this.#senders.delete(server)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#senders.clear()
  }

  /** Whoever connects later lists later: of a server that is new here, what was sent before concerns nobody. */
  #senderOf(server: string, before: number): Sender {
    const known = this.#senders.get(server)
    if (known !== undefined) return known
    const arrived = this.#settings.hasListeners() ? 0 : before
    const sender: Sender = { arrived, sent: arrived, ahead: new Set() }
    this.#senders.set(server, sender)
    return sender
  }

  /** Looks after a while whether what is missing now has arrived. */
  #watch(): void {
    if (this.#timer !== null) return
    const missing = [...this.#senders.values()].filter(hasGap).map((sender) => [sender, sender.sent] as const)
    if (missing.length === 0) return
    const look = (): void => {
      this.#timer = null
      const lost = missing.filter(([{ arrived }, sent]) => arrived < sent)
      for (const [sender, sent] of lost) skipTo(sender, sent)
      if (lost.length > 0) this.#settings.missed()
      this.#watch()
    }
    // In two parts: after a time in which the process stood still, what has come in is read between them.
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(look, GRACE).unref()
    }, GRACE).unref()
  }
}

function hasGap({ arrived, sent }: Sender): boolean {
  return arrived < sent
}

function absorb(sender: Sender): void {
  while (sender.ahead.delete(sender.arrived + 1)) sender.arrived += 1
}

function skipTo(sender: Sender, number: number): void {
  sender.arrived = number
  for (const each of sender.ahead) if (each <= number) sender.ahead.delete(each)
  absorb(sender)
}
