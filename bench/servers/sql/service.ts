// The service in handwritten SQL. Where possible, a request needs one statement.

import { hash } from 'node:crypto'
import type { Driver, Row } from './driver.js'
import { BadRequest, type PlayerInput, readNumber, readPlayer, readTeam } from './input.js'

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly location?: string
  /** Headers in addition to the headers of every response. */
  readonly headers?: Readonly<Record<string, string>>
}

interface Paged extends Answer {
  readonly body: Row & { readonly items: readonly Row[] }
}

interface Paging {
  readonly page: number
  readonly pageSize: number
}

const PLAYER = ['id', 'name', 'level', 'email', 'teamId', 'createdAt', 'updatedAt'] as const
const TEAM = ['id', 'name', 'description', 'maxMembers', 'createdAt', 'updatedAt'] as const
const NOT_FOUND: Answer = { status: 404, body: { title: 'Not Found', status: 404 } }

/** Number of rows per INSERT. Of all databases, SQLite has the lowest limit of bound values: 32,766. */
const CHUNK = 1000

/** Number of rows of an export that are in memory at once. The number equals the router's. */
const BATCH = 500

function listOf(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

/** Writes the placeholders for a number of values. */
function places(count: number, each: string): string {
  return Array.from({ length: count }, () => each).join(', ')
}

/**
 * SQL for each value of `sort`. With `-level,id`, equal levels are sorted by ascending keys, as in most handwritten
 * code. No index has the rows in this order.
 */
const ORDERS: ReadonlyMap<string, string> = new Map([
  ['id', 'p."id"'],
  ['-level', 'p."level" DESC, p."id" DESC'],
  ['-level,id', 'p."level" DESC, p."id"'],
])

export class Service {
  readonly #driver: Driver
  readonly #date: (value: unknown) => unknown
  readonly #stamp: (date: Date) => unknown

  constructor(driver: Driver) {
    this.#driver = driver
    const isText = driver.name === 'sqlite'
    this.#date = (value) => {
      if (value instanceof Date) return value.toISOString()
      return typeof value === 'string' ? `${value.slice(0, 10)}T${value.slice(11, 23)}Z` : value
    }
    this.#stamp = (date) => (isText ? date.toISOString().replace('T', ' ').replace('Z', ' +00:00') : date)
  }

  async player(id: string): Promise<Answer> {
    const [row] = await this.#driver.rows(`SELECT ${listOf(PLAYER)} FROM "players" WHERE "id" = ?`, [whole(id)])
    return row === undefined ? NOT_FOUND : { status: 200, body: this.#player(row) }
  }

  async players(query: URLSearchParams): Promise<Answer> {
    if (query.has('after')) return this.#after(query)
    if (query.has('afterLevel')) return this.#afterLevel(query)
    const conditions: string[] = []
    const values: unknown[] = []
    if (query.has('minLevel')) {
      conditions.push('p."level" > ?')
      values.push(readNumber(query.get('minLevel'), 0))
    }
    if (query.has('team')) {
      conditions.push('t."name" = ?')
      values.push(query.get('team'))
    }
    const order = ORDERS.get(query.get('sort') ?? 'id') ?? 'p."id"'
    const join = query.has('team') ? ' JOIN "teams" t ON t."id" = p."teamId"' : ''
    const where = conditions.length === 0 ? '' : `${join} WHERE ${conditions.join(' AND ')}`
    return this.#page('players', PLAYER, { where, values, order }, query)
  }

  async teams(query: URLSearchParams): Promise<Answer> {
    const isFiltered = query.has('playerLevelOver')
    const where = isFiltered
      ? ' WHERE EXISTS (SELECT 1 FROM "players" m WHERE m."teamId" = p."id" AND m."level" > ?)'
      : ''
    const values = isFiltered ? [readNumber(query.get('playerLevelOver'), 0)] : []
    const found = await this.#page('teams', TEAM, { where, values, order: 'p."id"' }, query)
    return query.has('players') ? this.#withPlayers(found, Math.min(100, readNumber(query.get('players'), 5))) : found
  }

  /** Adds the first players of each team to a page, with one statement. */
  async #withPlayers({ status, body }: Paged, limit: number): Promise<Answer> {
    const keys = body.items.map(({ id }) => id)
    if (keys.length === 0) return { status, body }
    const ranked = `SELECT ${listOf(PLAYER)}, ROW_NUMBER() OVER (PARTITION BY "teamId" ORDER BY "id") AS "place" FROM "players"`
    const text = `SELECT ${listOf(PLAYER)} FROM (${ranked} WHERE "teamId" IN (${places(keys.length, '?')})) r`
    const rows = await this.#driver.rows(`${text} WHERE "place" <= ${limit} ORDER BY "teamId", "place"`, keys)
    const players = new Map<unknown, Row[]>(keys.map((key) => [key, []]))
    for (const row of rows) players.get(row.teamId)?.push(this.#player(row))
    return { status, body: { ...body, items: body.items.map((team) => ({ ...team, players: players.get(team.id) })) } }
  }

  async createTeam(body: unknown): Promise<Answer> {
    const { name, description, maxMembers, players } = readTeam(body)
    const now = this.#stamp(new Date())
    const names = TEAM.slice(1)
    return this.#driver.transaction(async (rows) => {
      const text = `INSERT INTO "teams" (${listOf(names)}) VALUES (${places(names.length, '?')}) RETURNING ${listOf(TEAM)}`
      const [team] = await rows(text, [name, description, maxMembers, now, now])
      if (team === undefined) throw new TypeError('an INSERT returned no row')
      const own = players.map((player) => ({ ...player, teamId: Number(team.id) }))
      const made = own.length === 0 ? [] : await this.#insert(own, rows)
      const shown = { ...this.#team(team), players: made.map((row) => this.#player(row)) }
      return { status: 201, location: `/api/teams/${team.id}`, body: shown }
    })
  }

  async create(body: unknown): Promise<Answer> {
    const [row] = await this.#insert([readPlayer(body, true)])
    if (row === undefined) throw new TypeError('an INSERT returned no row')
    return { status: 201, location: `/api/players/${row.id}`, body: this.#player(row) }
  }

  async createAll(bodies: unknown): Promise<Answer> {
    if (!Array.isArray(bodies) || bodies.length > CHUNK) throw new BadRequest('the body is not an array of some')
    const rows = await this.#insert(bodies.map((body) => readPlayer(body, true)))
    return { status: 201, body: rows.map((row) => this.#player(row)) }
  }

  async patch(id: string, body: unknown): Promise<Answer> {
    const changes = Object.entries(readPlayer(body, false))
    const text = `UPDATE "players" SET ${changes.map(([name]) => `"${name}" = ?`).join(', ')}, "updatedAt" = ? WHERE "id" = ?`
    const values = [...changes.map(([, value]) => value), this.#stamp(new Date()), whole(id)]
    if (this.#driver.name === 'mysql') {
      await this.#driver.rows(text, values)
      return this.player(id)
    }
    const [row] = await this.#driver.rows(`${text} RETURNING ${listOf(PLAYER)}`, values)
    return row === undefined ? NOT_FOUND : { status: 200, body: this.#player(row) }
  }

  /** Updates all records of a batch in one transaction. */
  async patchAll(bodies: unknown): Promise<Answer> {
    if (!Array.isArray(bodies) || bodies.length > CHUNK) throw new BadRequest('the body is not an array of some')
    const changes = bodies.map((body) => ({ id: whole(String(Object(body).id)), player: readPlayer(body, false) }))
    const ids = changes.map(({ id }) => id)
    if (new Set(ids).size < ids.length) throw new BadRequest('a player is there twice')
    const stamp = this.#stamp(new Date())
    const found = await this.#driver.transaction(async (rows): Promise<readonly Row[] | null> => {
      const lock = this.#driver.name === 'sqlite' ? '' : ' FOR UPDATE'
      const where = `WHERE "id" IN (${places(ids.length, '?')}) ORDER BY "id"`
      const there = await rows(`SELECT "id" FROM "players" ${where}${lock}`, ids)
      if (there.length < ids.length) return null
      const all: Row[] = []
      for (const { id, player } of changes) {
        const entries = Object.entries(player)
        const set = entries.map(([name]) => `"${name}" = ?`).join(', ')
        const text = `UPDATE "players" SET ${set}, "updatedAt" = ? WHERE "id" = ?`
        const values = [...entries.map(([, value]) => value), stamp, id]
        const isReturned = this.#driver.name !== 'mysql'
        const written = await rows(isReturned ? `${text} RETURNING ${listOf(PLAYER)}` : text, values)
        const read = isReturned ? written : await rows(`SELECT ${listOf(PLAYER)} FROM "players" WHERE "id" = ?`, [id])
        const [row] = read
        if (row === undefined) throw new TypeError(`there is no ${id} any more`)
        all.push(this.#player(row))
      }
      return all
    })
    return found === null ? NOT_FOUND : { status: 200, body: found }
  }

  /** Writes players above a level as JSON lines. Some hundreds of players are read at a time. */
  async *lines(query: URLSearchParams): AsyncGenerator<string> {
    const level = readNumber(query.get('minLevel'), 0)
    const text = `SELECT ${listOf(PLAYER)} FROM "players" WHERE "level" > ? AND "id" > ? ORDER BY "id" LIMIT ${BATCH}`
    for (let last: unknown = 0; ; ) {
      const rows = await this.#driver.rows(text, [level, last])
      yield rows.map((row) => `${JSON.stringify(this.#player(row))}\n`).join('')
      if (rows.length < BATCH) return
      last = rows.at(-1)?.id
    }
  }

  /**
   * Keyset page in the order of levels. Players without a level come last. Such players are read by a separate
   * statement with the index of levels.
   */
  async #afterLevel(query: URLSearchParams): Promise<Answer> {
    const { pageSize } = pagingOf(query)
    const [level, id] = placeIn(query.get('afterLevel') ?? '')
    const columns = `SELECT ${listOf(PLAYER)} FROM "players" WHERE`
    const text = `${columns} "level" <= ? AND ("level" < ? OR "id" < ?) ORDER BY "level" DESC, "id" DESC LIMIT ${pageSize + 1}`
    const rows = level === null ? [] : [...(await this.#driver.rows(text, [level, level, id]))]
    if (rows.length <= pageSize) {
      const limit = `LIMIT ${pageSize + 1 - rows.length}`
      const rest = level === null ? ['AND "id" < ?', [id]] : ['', []]
      rows.push(
        ...(await this.#driver.rows(`${columns} "level" IS NULL ${rest[0]} ORDER BY "id" DESC ${limit}`, [
          ...(rest[1] ?? []),
        ])),
      )
    }
    const items = rows.slice(0, pageSize).map((row) => this.#player(row))
    const nextCursor = rows.length > pageSize ? placeOf(items.at(-1)) : null
    const previousCursor = placeOf(items[0])
    const links = [
      ...(nextCursor === null ? [] : [link(query, 'afterLevel', nextCursor, 'next')]),
      ...(previousCursor === null ? [] : [link(query, 'beforeLevel', previousCursor, 'prev')]),
    ]
    return { status: 200, headers: { Link: links.join(', ') }, body: { items, pageSize, nextCursor, previousCursor } }
  }

  async #after(query: URLSearchParams): Promise<Answer> {
    const { pageSize } = pagingOf(query)
    const text = `SELECT ${listOf(PLAYER)} FROM "players" WHERE "id" > ? ORDER BY "id" LIMIT ${pageSize + 1}`
    const rows = await this.#driver.rows(text, [readNumber(query.get('after'), 0)])
    const items = rows.slice(0, pageSize).map((row) => this.#player(row))
    const nextCursor = rows.length > pageSize ? items.at(-1)?.id : null
    return { status: 200, body: { items, nextCursor, pageSize } }
  }

  async #page(
    table: 'players' | 'teams',
    names: readonly string[],
    { where, values, order }: { readonly where: string; readonly values: readonly unknown[]; readonly order: string },
    query: URLSearchParams,
  ): Promise<Paged> {
    const { page, pageSize } = pagingOf(query)
    const offset = (page - 1) * pageSize
    if (query.get('count') === 'none') return this.#uncounted(table, names, { where, values, order }, query)
    const total = `(SELECT COUNT(*) FROM "${table}" p${where})`
    const columns = names.map((name) => `p."${name}"`).join(', ')
    const text = `SELECT ${columns}, ${total} AS "total" FROM "${table}" p${where}`
    const window = `ORDER BY ${order} LIMIT ${pageSize} OFFSET ${offset}`
    const rows = await this.#driver.rows(`${text} ${window}`, [...values, ...values])
    const totalCount = Number(rows[0]?.total ?? 0)
    const totalPages = Math.ceil(totalCount / pageSize)
    const items = rows.map(table === 'players' ? (row) => this.#player(row) : (row) => this.#team(row))
    const around = { hasNextPage: page < totalPages, hasPreviousPage: page > 1 }
    const headers = { 'X-Total-Count': String(totalCount), Link: linksOf(query, page, totalPages, around.hasNextPage) }
    return { status: 200, headers, body: { items, totalCount, page, pageSize, totalPages, ...around } }
  }

  async #uncounted(
    table: 'players' | 'teams',
    names: readonly string[],
    { where, values, order }: { readonly where: string; readonly values: readonly unknown[]; readonly order: string },
    query: URLSearchParams,
  ): Promise<Paged> {
    const { page, pageSize } = pagingOf(query)
    const columns = names.map((name) => `p."${name}"`).join(', ')
    const text = `SELECT ${columns} FROM "${table}" p${where} ORDER BY ${order} LIMIT ${pageSize + 1} OFFSET ${(page - 1) * pageSize}`
    const rows = await this.#driver.rows(text, values)
    const items = rows
      .slice(0, pageSize)
      .map(table === 'players' ? (row) => this.#player(row) : (row) => this.#team(row))
    const around = { hasNextPage: rows.length > pageSize, hasPreviousPage: page > 1 }
    const headers = { Link: linksOf(query, page, null, around.hasNextPage) }
    return { status: 200, headers, body: { items, totalCount: null, page, pageSize, totalPages: null, ...around } }
  }

  #insert(players: readonly PlayerInput[], rows: Driver['rows'] = this.#driver.rows): Promise<readonly Row[]> {
    const now = this.#stamp(new Date())
    const names = PLAYER.slice(1)
    const values = players.flatMap(({ name, level = 1, email = null, teamId = null }) => [
      name,
      level,
      email,
      teamId,
      now,
      now,
    ])
    const text = `INSERT INTO "players" (${listOf(names)}) VALUES ${places(players.length, `(${places(names.length, '?')})`)}`
    return rows(`${text} RETURNING ${listOf(PLAYER)}`, values)
  }

  #player({ id, name, level, email, teamId, createdAt, updatedAt }: Row): Row {
    return { id, name, level, email, teamId, createdAt: this.#date(createdAt), updatedAt: this.#date(updatedAt) }
  }

  #team({ id, name, description, maxMembers, createdAt, updatedAt }: Row): Row {
    return { id, name, description, maxMembers, createdAt: this.#date(createdAt), updatedAt: this.#date(updatedAt) }
  }
}

function whole(id: string): number {
  return /^\d{1,9}$/.test(id) ? Number(id) : 0
}

function pagingOf(query: URLSearchParams): Paging {
  const page = Math.max(1, readNumber(query.get('page'), 1))
  return { page, pageSize: Math.min(1000, Math.max(1, readNumber(query.get('pageSize'), 20))) }
}

/** Token for the position of a player in the order of levels. A checksum detects damage. */
export function placeOf(player: Row | undefined): string | null {
  if (player === undefined) return null
  const body = JSON.stringify([player.level, player.id])
  return Buffer.from(checksumOf(body) + body).toString('base64url')
}

/** Parses the token of a position. @throws BadRequest for an invalid token */
export function placeIn(token: string): readonly [level: number | null, id: number] {
  const text = token.length > 100 ? '' : Buffer.from(token, 'base64url').toString()
  const body = text.slice(CHECKSUM)
  if (checksumOf(body) !== text.slice(0, CHECKSUM)) throw new BadRequest('not a cursor')
  const [level, id]: readonly unknown[] = JSON.parse(body)
  if ((level !== null && typeof level !== 'number') || typeof id !== 'number') throw new BadRequest('not a cursor')
  return [level, id]
}

const CHECKSUM = 8

function checksumOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, CHECKSUM)
}

/** Writes links to the neighbouring pages (RFC 8288). */
function linksOf(query: URLSearchParams, page: number, last: number | null, more: boolean): string {
  const links = [link(query, 'page', 1, 'first')]
  if (page > 1) links.push(link(query, 'page', page - 1, 'prev'))
  if (more) links.push(link(query, 'page', page + 1, 'next'))
  if (last !== null) links.push(link(query, 'page', Math.max(last, 1), 'last'))
  return links.join(', ')
}

function link(query: URLSearchParams, name: string, value: string | number, rel: string): string {
  const others = [...query].filter(([each]) => each !== name && !PLACES.has(each))
  const all = new URLSearchParams([...others, [name, String(value)]])
  return `<?${all}>; rel="${rel}"`
}

const PLACES: ReadonlySet<string> = new Set(['page', 'afterLevel', 'beforeLevel'])
