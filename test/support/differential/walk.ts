// Reads a list from the first to the last page with `after`, and back from a random page with `before`. Noise records
// may be added and removed between pages.

import type { Model, ModelStatic, WhereOptions } from 'sequelize'
import { below, pick, type Random } from './random.js'
import { assertSame, type Client, keyIn, type Query } from './requests.js'

export interface Walk {
  readonly path: string
  readonly query: Query
  /** Keys of the rows, in list order. */
  readonly expected: readonly unknown[]
  /** Whether a key belongs to a row, not to a noise record. */
  readonly isRow: (key: unknown) => boolean
  readonly random: Random
  /** Called between two pages, or null. */
  readonly between: (() => Promise<void>) | null
}

/** Position at which a walk may change its direction. */
interface Turn {
  readonly token: string
  readonly rows: number
}

interface Page {
  readonly request: string
  /** Keys of the page without noise records. */
  readonly keys: readonly unknown[]
  readonly next: string | null
  readonly previous: string | null
}

/** Walks through a list. @throws Difference for a page with unexpected rows */
export async function walk(client: Client, given: Walk): Promise<void> {
  const turns = await walkForward(client, given)
  const turn = given.random() < 0.5 ? turns.at(-1) : turns[below(given.random, turns.length)]
  if (turn !== undefined) await walkBackward(client, given, turn)
}

async function walkForward(client: Client, given: Walk): Promise<readonly Turn[]> {
  const { expected, between } = given
  const sizes = sizesOf(given)
  const keys: unknown[] = []
  const turns: Turn[] = []
  let last = ''
  for (let token: string | null = ''; token !== null; ) {
    const { request, ...page }: Page = await readPage(client, given, { after: token }, sizes())
    if (page.previous !== null) turns.push({ token: page.previous, rows: keys.length })
    keys.push(...page.keys)
    last = request
    // A walk that never ends would collect more keys than there are rows.
    if (keys.length > expected.length) break
    token = page.next
    await between?.()
  }
  assertSame('the keys of all pages by after', last, keys, expected)
  return turns
}

async function walkBackward(client: Client, given: Walk, turn: Turn): Promise<void> {
  const { expected, between } = given
  const sizes = sizesOf(given)
  const keys: unknown[] = []
  let [last, first]: [string, Page | null] = ['', null]
  for (let token: string | null = turn.token; token !== null; ) {
    const page: Page = await readPage(client, given, { before: token }, sizes())
    keys.unshift(...page.keys)
    ;[last, first] = [page.request, page]
    if (keys.length > turn.rows) break
    token = page.previous
    await between?.()
  }
  assertSame('the keys of all pages by before', last, keys, expected.slice(0, turn.rows))
  if (first?.next == null) return
  // The `nextCursor` of a page that was read with `before` must lead to the page after it.
  const { request, keys: behind } = await readPage(client, given, { after: first.next }, sizes())
  const from = first.keys.length
  assertSame('the keys behind the first page', request, behind, expected.slice(from, from + behind.length))
}

async function readPage(client: Client, { path, query, isRow }: Walk, token: Query, size: number): Promise<Page> {
  const { request, body } = await client.request({ path }, { ...query, ...token, pageSize: String(size) })
  const keys: unknown[] = body.items.map(keyIn)
  return { request, keys: keys.filter(isRow), next: body.nextCursor, previous: body.previousCursor }
}

/** Returns random page sizes: small pages for few records, and seldom more than six pages. */
function sizesOf({ expected, random }: Walk): () => number {
  const most = Math.max(pick(random, [2, 5, 20, 60]), Math.ceil(expected.length / 2))
  return () => 1 + below(random, most)
}

/** Adds noise records to a model's table and removes them again. */
export class Noise {
  readonly #model: ModelStatic<Model>
  readonly #recordOf: (random: Random) => Record<string, unknown>
  readonly #isNoise: WhereOptions
  #isThere = false

  constructor(model: ModelStatic<Model>, recordOf: (random: Random) => Record<string, unknown>, isNoise: WhereOptions) {
    this.#model = model
    this.#recordOf = recordOf
    this.#isNoise = isNoise
  }

  async change(random: Random): Promise<void> {
    if (this.#isThere && random() < 0.4) return this.end()
    await this.#model.bulkCreate(Array.from({ length: 1 + below(random, 3) }, () => this.#recordOf(random)))
    this.#isThere = true
  }

  async end(): Promise<void> {
    if (!this.#isThere) return
    this.#isThere = false
    await this.#model.destroy({ where: this.#isNoise, force: true })
  }
}
