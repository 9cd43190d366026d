import { connect, Employee, Player, type Target, Team } from './models.js'

export const PLAYERS = 100_000
export const TEAMS = 200
export const TENANTS = 100

const FIRST = ['Ana', 'Ben', 'Chloé', 'Dimitri', 'Elif', 'Femi', 'Grace', 'Hiro', 'Inés', 'Jan', 'Kofi', 'Lea']
const LAST = ['Adeyemi', 'Berg', 'Costa', 'Dupont', 'Eriksen', 'Fischer', 'García', 'Haas', 'Ivanov', 'Janssen']
const CHUNK = 5_000

/**
 * Creates a function that returns pseudorandom numbers below `limit`. The numbers are equal on every run (mulberry32).
 */
export function generator(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

/** Body for creating a player. */
export interface PlayerBody {
  readonly name: string
  readonly level: number
  readonly email: string | null
  readonly teamId: number
}

export function playerBody(random: (limit: number) => number): PlayerBody {
  const first = FIRST[random(FIRST.length)] ?? ''
  const last = LAST[random(LAST.length)] ?? ''
  const number = random(1_000_000)
  return {
    name: `${first} ${last}`,
    level: 1 + random(100),
    email: random(4) === 0 ? null : `player${number}@example.com`,
    teamId: 1 + random(TEAMS),
  }
}

/** Every fifth team has only players of low levels, so that a filter on players excludes some teams. */
function graded(body: PlayerBody): PlayerBody {
  return body.teamId % 5 === 0 ? { ...body, level: Math.ceil(body.level / 2) } : body
}

/** Fills the database. Each server gets a copy of it. */
export async function seed(options: Target): Promise<void> {
  const sequelize = connect(options)
  const isFile = options.dialect === 'sqlite'
  if (isFile) await sequelize.query('PRAGMA journal_mode = WAL')
  await sequelize.sync()
  const stamp = new Date('2026-01-01T00:00:00Z')
  const stamps = { createdAt: stamp, updatedAt: stamp }
  await sequelize.transaction(async (transaction) => {
    const teams = Array.from({ length: TEAMS }, (_, index) => ({
      name: `Team ${index + 1}`,
      description: index % 3 === 0 ? null : `The team of district ${index + 1}`,
      maxMembers: 500 + (index % 7) * 50,
      ...stamps,
    }))
    await Team.bulkCreate(teams, { transaction })
    const random = generator(1)
    for (let done = 0; done < PLAYERS; done += CHUNK) {
      const rows = Array.from({ length: CHUNK }, () => ({ ...graded(playerBody(random)), ...stamps }))
      await Player.bulkCreate(rows, { transaction })
    }
  })
  await sequelize.transaction(async (transaction) => {
    const random = generator(2)
    for (let done = 0; done < PLAYERS; done += CHUNK) {
      const rows = Array.from({ length: CHUNK }, (_, index) => {
        const { name, level } = playerBody(random)
        const salary = 1000 + random(9000)
        return { name, level, salary, tenantId: 1 + ((done + index) % TENANTS), rowVersion: 0, ...stamps }
      })
      await Employee.bulkCreate(rows, { transaction })
    }
  })
  // Without statistics, a database guesses which index to use. With statistics, all servers get equal plans.
  if (options.dialect !== 'mysql') await sequelize.query(isFile ? 'ANALYZE' : 'VACUUM ANALYZE')
  // Moves the write-ahead log into the main file. A copy of the main file is complete afterwards.
  if (isFile) await sequelize.query('PRAGMA wal_checkpoint(TRUNCATE)')
  await sequelize.close()
}
