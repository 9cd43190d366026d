// The service in SQL written by hand: one statement for a request wherever one will do.

import type { Driver, Row } from './driver.js'
import { BadRequest, type PlayerInput, readNumber, readPlayer } from './input.js'

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly location?: string
}

interface Paging {
  readonly page: number
  readonly pageSize: number
}

const PLAYER = ['id', 'name', 'level', 'email', 'teamId', 'createdAt', 'updatedAt'] as const
const TEAM = ['id', 'name', 'description', 'maxMembers', 'createdAt', 'updatedAt'] as const
const NOT_FOUND: Answer = { status: 404, body: { title: 'Not Found', status: 404 } }

/** Rows of one INSERT: SQLite has the fewest places for values, 32,766. */
const CHUNK = 1000

function listOf(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

/** What stands where a value's place is, so often. */
function places(count: number, each: string): string {
  return Array.from({ length: count }, () => each).join(', ')
}

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
    const order = query.get('sort') === '-level' ? 'p."level" DESC, p."id" DESC' : 'p."id"'
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
    return this.#page('teams', TEAM, { where, values, order: 'p."id"' }, query)
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
  ): Promise<Answer> {
    const { page, pageSize } = pagingOf(query)
    const offset = (page - 1) * pageSize
    const total = `(SELECT COUNT(*) FROM "${table}" p${where})`
    const columns = names.map((name) => `p."${name}"`).join(', ')
    const text = `SELECT ${columns}, ${total} AS "total" FROM "${table}" p${where}`
    const window = `ORDER BY ${order} LIMIT ${pageSize} OFFSET ${offset}`
    const rows = await this.#driver.rows(`${text} ${window}`, [...values, ...values])
    const totalCount = Number(rows[0]?.total ?? 0)
    const totalPages = Math.ceil(totalCount / pageSize)
    const items = rows.map(table === 'players' ? (row) => this.#player(row) : (row) => this.#team(row))
    const around = { hasNextPage: page < totalPages, hasPreviousPage: page > 1 }
    return { status: 200, body: { items, totalCount, page, pageSize, totalPages, ...around } }
  }

  #insert(players: readonly PlayerInput[]): Promise<readonly Row[]> {
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
    return this.#driver.rows(`${text} RETURNING ${listOf(PLAYER)}`, values)
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
