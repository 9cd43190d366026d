import type { Caller } from './callers.js'
import { numberCanary, SEED, textCanary, uuidCanary } from './canaries.js'
import { RANKS, TARGETS } from './models.js'
import { admits, mayAskForDeleted, maySee } from './rights.js'
import { type Column, type Kind, TABLES, type Table, type TableName, tableNamed } from './tables.js'

/** A row before any request; `links` of a team are the keys of its tags. */
export interface Seed {
  readonly values: Readonly<Record<string, unknown>>
  readonly deleted: boolean
  readonly links: readonly number[]
}

export type Seeds = Readonly<Record<TableName, readonly Seed[]>>

export const BIG_KEY = 5_000_000_000

const SIZES: Readonly<Record<Exclude<TableName, 'Event'>, number>> = {
  Ledger: 4,
  Club: 6,
  Team: 18,
  Player: 45,
  Badge: 20,
  Skill: 8,
  Training: 40,
  Tag: 8,
  Region: 6,
  Notice: 24,
  Comment: 40,
}

const SPACES: Readonly<Record<TableName, number>> = {
  Ledger: 1,
  Club: 2,
  // With letters, which have a case.
  Team: 0xa3,
  Player: 4,
  Badge: 5,
  Skill: 6,
  Training: 7,
  Tag: 8,
  Region: 9,
  Notice: 10,
  Comment: 11,
  Event: 12,
}

/** The key of the n-th row of a table, from 0; beyond the rows that are there one that nothing has. */
export function seedKey({ name, key }: Table, index: number): string | number {
  if (key.kind === 'uuid') return uuidCanary(SPACES[name], index)
  if (key.kind === 'text') return `badge ${index}`
  if (key.kind === 'folded') return `land ${index}`
  return (key.kind === 'big' ? BIG_KEY : 0) + index + 1
}

/** Nearly all of them are of one club. */
const EVENTS = 5000

const TENANTS = [1, 2, null]
const OWNERS = ['anna', null, 'bert']

/** A value of its own for each column of each row, so that any of them tells where it comes from. */
const VALUES: Readonly<Record<Kind, (serial: number, index: number) => unknown>> = {
  text: (serial) => textCanary(SEED, serial),
  folded: (serial) => textCanary(SEED, serial),
  target: (_, index) => TARGETS[index % 2],
  email: (serial) => `${textCanary(SEED, serial)}@test.pl`,
  level: (_, index) => 1 + ((index * 7) % 100),
  number: (serial) => numberCanary(serial),
  big: (serial) => BIG_KEY * 2 + numberCanary(serial),
  double: (_, index) => index / 4,
  money: (serial) => `${numberCanary(serial)}.25`,
  flag: (_, index) => index % 2 === 0,
  rank: (_, index) => RANKS[index % RANKS.length],
  day: (_, index) => `2024-0${1 + (index % 9)}-15`,
  instant: (_, index) => new Date(Date.UTC(2024, 0, 1 + index, 12)),
  time: (_, index) => `0${index % 10}:30:00`,
  uuid: (serial) => uuidCanary(99, serial),
  json: (serial, index) => ({
    note: textCanary(SEED, serial),
    list: [1, null, { deep: true }],
    ...(index % 2 === 0 ? { size: index, deep: { on: index % 4 === 0 }, tags: ['a', 'b'].slice(index % 3) } : {}),
  }),
  bytes: (serial) => Buffer.from(`photo ${serial}`),
}

/** The same rows each time. */
export function makeSeeds(events: number = EVENTS): Seeds {
  let serial = 0
  const make = (name: TableName): readonly Seed[] => {
    const table = tableNamed(name)
    const length = name === 'Event' ? events : SIZES[name]
    return Array.from({ length }, (_, index): Seed => {
      const values: Record<string, unknown> = { id: seedKey(table, index) }
      for (const column of table.columns) {
        serial += 1
        values[column.name] = seedValue(table, column, serial, index)
      }
      const deleted = table.softDelete !== null && index % 5 === 4
      return { values, deleted, links: name === 'Team' ? [1 + (index % 8), 1 + ((index + 3) % 8)] : [] }
    })
  }
  return {
    Ledger: make('Ledger'),
    Club: make('Club'),
    Team: make('Team'),
    Player: make('Player'),
    Badge: make('Badge'),
    Skill: make('Skill'),
    Training: make('Training'),
    Tag: make('Tag'),
    Region: make('Region'),
    Notice: make('Notice'),
    Comment: make('Comment'),
    Event: make('Event'),
  }
}

function seedValue(table: Table, column: Column, serial: number, index: number): unknown {
  if (column.name === 'tenantId') return TENANTS[index % 3]
  if (column.name === 'ownerId') return OWNERS[Math.floor(index / 3) % 3]
  if (column.name === 'isPublic') return index % 2 === 0
  if (column.name === 'targetType') return TARGETS[index % 2]
  if (column.name === 'targetId') return 1 + (index % 9)
  if (table.name === 'Event' && column.name === 'clubId') return seedKey(tableNamed('Club'), index < 12 ? index % 6 : 0)
  if (column.refers === null) return column.nullable && index % 11 === 10 ? null : VALUES[column.kind](serial, index)
  const isSelf = column.refers === table.name
  if (column.nullable && (index % 6 === 5 || (isSelf && index === 0))) return null
  // A relation to its own table leads back; others lead to the rows of all tenants alike.
  return seedKey(
    tableNamed(column.refers),
    isSelf ? index >> 1 : (index * 2) % (column.refers === 'Event' ? EVENTS : SIZES[column.refers]),
  )
}

/** What of the rows a caller may ever meet, with other values where they may not see them. */
export function seedsOf(seeds: Seeds, caller: Caller): Seeds {
  const kept = TABLES.map((table): [TableName, readonly Seed[]] => {
    const met = seeds[table.name].filter(
      ({ values, deleted }) => admits(table, caller, values) && (!deleted || mayAskForDeleted(table, caller)),
    )
    return [table.name, met.map((seed, index) => ({ ...seed, values: veiled(table, seed, index, caller) }))]
  })
  return { ...seeds, ...Object.fromEntries(kept) }
}

function veiled(table: Table, { values }: Seed, index: number, caller: Caller): Seed['values'] {
  const others = table.columns
    .filter((column) => !maySee(column, caller))
    .map((column) => [column.name, column.refers === null ? VALUES[column.kind](90_000 + index * 3, index + 1) : null])
  return { ...values, ...Object.fromEntries(others) }
}
