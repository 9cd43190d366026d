// Writers and readers that know what each answer may be. Each writer has records of its own, so that it knows what they are.

import { setTimeout as wait } from 'node:timers/promises'
import type { Answer, TestClient } from '../../support/server.js'

export interface Figures {
  requests: number
  '2xx': number
  'due 4xx': number
  '503': number
  /** Answers that are none of these. */
  other: number
  /** 503 without Retry-After. */
  'no Retry-After': number
  /** Reads from the primary that are older than an acknowledged write. */
  old: number
}

/** The values that a record may have: more than one where an answer came from a connection that broke in its commit. Null: none. */
type Possible = readonly (number | null)[]

const PRIMARY = { Prefer: 'read=primary' }
/** Milliseconds between two requests of a writer or reader. */
const PAUSE = 25

export class Load {
  readonly figures: Figures = { requests: 0, '2xx': 0, 'due 4xx': 0, '503': 0, other: 0, 'no Retry-After': 0, old: 0 }
  /** The first answers that are none of those that are due. */
  readonly surprises: string[] = []
  /** By the names of records. */
  readonly expected = new Map<string, Possible>()
  /** Names of records that were sent again under an Idempotency-Key until they were answered. */
  readonly repeated: string[] = []
  inDoubt = 0
  readonly #client: TestClient
  #isOver = false
  /** When a primary was killed for the last time, and whether reads may be older than writes. */
  #killed = Number.NEGATIVE_INFINITY
  #mayBeOld = false
  #running: Promise<void>[] = []

  constructor(client: TestClient) {
    this.#client = client
  }

  start(writers: number, readers: number): void {
    const loop = async (step: (number: number) => Promise<void>): Promise<void> => {
      for (let number = 0; !this.#isOver; number += 1) {
        await step(number)
        await wait(PAUSE)
      }
    }
    for (let at = 0; at < writers; at += 1) {
      const writer = new Writer(this, at)
      this.#running.push(loop((number) => writer.write(number)))
    }
    for (let at = 0; at < readers; at += 1) this.#running.push(loop((number) => this.#read(number)))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
  }

  /** A primary is killed now: what is under way may or may not be committed. */
  kill(): void {
    this.#killed = performance.now()
  }

  /** Connections to the old primary answer reads until they are closed. */
  mayBeOld(mayBe: boolean): void {
    this.#mayBeOld = mayBe
  }

  get isCertain(): boolean {
    return !this.#mayBeOld
  }

  /** Sends a request that is answered with a 2xx, one of the due statuses or 503. */
  async send(
    method: string,
    path: string,
    { json, headers = {}, due = [] }: Sending = {},
  ): Promise<Answer & { readonly isInDoubt: boolean }> {
    const began = performance.now()
    const answer = await this.#client.send(method, path, { headers, ...(json === undefined ? {} : { json }) })
    const { status } = answer
    this.figures.requests += 1
    if (status >= 200 && status < 300) this.figures['2xx'] += 1
    else if (due.includes(status)) this.figures['due 4xx'] += 1
    else if (status === 503) {
      this.figures['503'] += 1
      if (!/^\d+$/.test(answer.headers.get('retry-after') ?? '')) this.figures['no Retry-After'] += 1
    } else {
      this.figures.other += 1
      this.surprise(`${method} ${path} ${status} ${answer.text}`)
    }
    const isInDoubt = status === 503 && began < this.#killed && method !== 'GET'
    if (isInDoubt) this.inDoubt += 1
    return { ...answer, isInDoubt }
  }

  surprise(text: string): void {
    if (this.surprises.length < 20) this.surprises.push(text)
  }

  async #read(number: number): Promise<void> {
    const paths = [
      '/api/things?pageSize=20&sort=-id',
      '/api/things?filter=Value>5&aggregate=count',
      '/api/things?after=&pageSize=10&select=id,Name,Parts.Name',
      '/api/parts?filter=Thing.Value>3&count=none',
    ]
    const path = paths[number % paths.length] ?? ''
    await this.send('GET', path, number % 3 === 0 ? { headers: PRIMARY } : {})
    await this.send('GET', '/api/things?filter=Value>', { due: [400] })
    await this.send('GET', '/api/things/999999999', { due: [404] })
  }
}

interface Sending {
  readonly json?: unknown
  readonly headers?: Record<string, string>
  readonly due?: readonly number[]
}

interface Known {
  readonly id: number
  readonly name: string
}

/** Records that a writer keeps at most. */
const KEPT = 20

class Writer {
  readonly #load: Load
  readonly #at: number
  #known: Known[] = []

  constructor(load: Load, at: number) {
    this.#load = load
    this.#at = at
  }

  async write(number: number): Promise<void> {
    const name = `${this.#at}-${number}`
    const one = this.#known[Math.floor(Math.random() * this.#known.length)]
    const dice = Math.random()
    if (one === undefined || dice < 0.25) await this.#create(name, number)
    else if (dice < 0.3) await this.#repeat(name)
    else if (dice < 0.4) await this.#createSome(name)
    else if (dice < 0.75) await this.#change(one, number)
    else if (dice < 0.85) await this.#fail(one, name)
    else await this.#check(one)
    if (this.#known.length > KEPT) await this.#delete(this.#known[0])
  }

  #expect(
    name: string,
    value: number | null,
    { status, isInDoubt }: Pick<Answer, 'status'> & { isInDoubt: boolean },
  ): boolean {
    const before = this.#load.expected.get(name) ?? [null]
    const isDone = status >= 200 && status < 300
    if (isDone) this.#load.expected.set(name, [value])
    else this.#load.expected.set(name, isInDoubt ? [...before, value] : before)
    return isDone
  }

  async #create(name: string, number: number): Promise<void> {
    const parts = number % 2 === 0 ? {} : { parts: [{ name: 'one' }, { name: 'two' }] }
    const answer = await this.#load.send('POST', '/api/things', { json: { name, value: 0, ...parts } })
    if (this.#expect(name, 0, answer)) this.#known.push({ id: answer.body.id, name })
  }

  /** Creates one under a key, however often that takes. */
  async #repeat(name: string): Promise<void> {
    const headers = { 'Idempotency-Key': `"${name}"` }
    this.#load.expected.set(name, [0])
    this.#load.repeated.push(name)
    for (;;) {
      const { status } = await this.#load.send('POST', '/api/things', { json: { name, value: 0 }, headers, due: [409] })
      if (status === 201) return
      await wait(200)
    }
  }

  async #createSome(name: string): Promise<void> {
    const names = ['a', 'b', 'c'].map((letter) => `${name}${letter}`)
    const answer = await this.#load.send('POST', '/api/things/bulk', {
      json: names.map((each) => ({ name: each, value: 0 })),
    })
    for (const [at, each] of names.entries()) {
      if (this.#expect(each, 0, answer)) this.#known.push({ id: answer.body[at].id, name: each })
    }
  }

  async #change({ id, name }: Known, value: number): Promise<void> {
    const path = `/api/things/${id}`
    const answer = await this.#load.send('PATCH', path, { json: { value }, headers: { 'If-Match': '*' } })
    this.#expect(name, value, answer)
  }

  async #delete(one: Known | undefined): Promise<void> {
    if (one === undefined) return
    // It may be gone already where an earlier answer is in doubt.
    const isSure = (this.#load.expected.get(one.name) ?? []).length === 1
    const headers = { 'If-Match': '*' }
    const answer = await this.#load.send('DELETE', `/api/things/${one.id}`, { headers, due: isSure ? [] : [404] })
    const isGone = this.#expect(one.name, null, answer)
    if (isGone || answer.isInDoubt || answer.status === 404) this.#known = this.#known.filter((each) => each !== one)
  }

  /** Requests that are refused. */
  async #fail({ id, name }: Known, other: string): Promise<void> {
    await this.#load.send('POST', '/api/things', { json: { name, value: 1 }, due: [409] })
    await this.#load.send('POST', '/api/things', { json: { name: other, value: 'text' }, due: [400] })
    // Why it is refused may be read from the old primary, which lacks the record.
    const old = this.#load.isCertain ? [] : [404]
    await this.#load.send('PATCH', `/api/things/${id}`, {
      json: { value: 9 },
      headers: { 'If-Match': '"999"' },
      due: [412, ...old],
    })
    await this.#load.send('PATCH', `/api/things/${id}`, { json: { value: 9 }, due: [428, ...old] })
  }

  /** Reads a record from the primary. */
  async #check({ id, name }: Known): Promise<void> {
    const possible = this.#load.expected.get(name) ?? [null]
    const { status, body } = await this.#load.send('GET', `/api/things/${id}`, { headers: PRIMARY, due: [404] })
    if (status === 503) return
    const value = status === 404 ? null : body.value
    if (possible.includes(value)) return
    if (this.#load.isCertain) this.#load.surprise(`${name} is ${value}, not ${possible.join(' or ')}`)
    this.#load.figures.old += 1
  }
}
