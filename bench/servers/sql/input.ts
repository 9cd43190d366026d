// Validates input of clients, as typical handwritten code does.

export class BadRequest extends Error {}

export interface PlayerInput {
  readonly name?: string
  readonly level?: number | null
  readonly email?: string | null
  readonly teamId?: number | null
}

/** Reads the body of a new player, or the changes of a player. */
export function readPlayer(body: unknown, isNew: boolean): PlayerInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new BadRequest('the body is not an object')
  const { name, level, email, teamId } = body as Record<string, unknown>
  if (isNew && name === undefined) throw new BadRequest('name is missing')
  return {
    ...(name === undefined ? {} : { name: readName(name) }),
    ...(level === undefined ? {} : { level: readWhole(level, 'level', 1, 100) }),
    ...(email === undefined ? {} : { email: readEmail(email) }),
    ...(teamId === undefined ? {} : { teamId: readWhole(teamId, 'teamId', 1, 2 ** 31 - 1) }),
  }
}

export interface TeamInput {
  readonly name: string
  readonly description: string | null
  readonly maxMembers: number | null
  readonly players: readonly PlayerInput[]
}

/** Reads the body of a new team with its players. */
export function readTeam(body: unknown): TeamInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new BadRequest('the body is not an object')
  const { name, description = null, maxMembers = null, players = [] } = body as Record<string, unknown>
  if (description !== null && (typeof description !== 'string' || description.length > 200))
    throw new BadRequest('description must have at most 200 characters')
  if (!Array.isArray(players)) throw new BadRequest('players is not an array')
  return {
    name: readName(name),
    description,
    maxMembers: readWhole(maxMembers, 'maxMembers', 0, 2 ** 31 - 1),
    players: players.map((player) => readPlayer(player, true)),
  }
}

function readName(value: unknown): string {
  if (typeof value === 'string' && value.length >= 2 && value.length <= 50) return value
  throw new BadRequest('name must have 2 to 50 characters')
}

function readWhole(value: unknown, name: string, least: number, most: number): number | null {
  if (value === null) return null
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw new BadRequest(`${name} must be a whole number from ${least} to ${most}`)
}

function readEmail(value: unknown): string | null {
  if (value === null) return null
  if (typeof value === 'string' && value.length <= 200 && /^[^\s@]+@[^\s@.]+\.[^\s@]+$/.test(value)) return value
  throw new BadRequest('email must be an address')
}

/** Reads a number from the query. */
export function readNumber(text: string | null, otherwise: number): number {
  if (text === null) return otherwise
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new BadRequest(`not a whole number: ${text}`)
}
