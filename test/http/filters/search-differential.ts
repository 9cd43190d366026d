// Random rows, random searches, held against their meaning in memory. SEARCH_SEED=n repeats a run, SEARCH_CASES=n makes it longer.

import { randomInt } from 'node:crypto'
import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { foldAscii } from '../../support/differential/oracle.js'
import { below, pick, type Random, randomOf } from '../../support/differential/random.js'
import { keysOf } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const seed = Number(process.env.SEARCH_SEED ?? randomInt(2 ** 31))
const cases = Number(process.env.SEARCH_CASES ?? 150)

const models: ModelStatic<Model>[] = []
const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
  const Person = sequelize.define(
    'Person',
    { name: DataTypes.STRING, email: DataTypes.STRING, note: DataTypes.TEXT },
    plain,
  )
  Person.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  const query = { search: ['name', 'email', 'note', 'team.name'] }
  app.use(crudRouter(Team))
  app.use(crudRouter(Person, { route: 'open', query }))
  app.use(crudRouter(Person, { route: 'masked', query, mask: { email: 'email.read' } }))
  models.push(Team, Person)
})
test.after.always(() => stage.close())

/** The fields of a row by what reads them, those of its team among them. */
interface Held {
  readonly id: number
  readonly texts: Readonly<Record<'name' | 'email' | 'note' | 'team', string | null>>
}

// Few letters, so that they meet; what means something to patterns, filters and quotes; and what has no case beyond ASCII.
const LETTERS = [
  'a',
  'A',
  'b',
  'B',
  'z',
  '%',
  '_',
  '*',
  '?',
  '[',
  ']',
  '\\',
  '/',
  "'",
  ',',
  ';',
  '(',
  '|',
  '-',
  '猫',
  '🂡',
] as const
const INNER = [...LETTERS, '"', '"'] as const
const BLANKS = [' ', ' ', '  '] as const

function textOf(random: Random, alphabet: readonly [string, ...string[]], length: number): string {
  return Array.from({ length }, () => pick(random, alphabet)).join('')
}

function sentenceOf(random: Random): string | null {
  if (below(random, 6) === 0) return null
  const words = Array.from({ length: 1 + below(random, 3) }, () => textOf(random, INNER, 1 + below(random, 4)))
  return words.join(pick(random, BLANKS))
}

/** A part of what some row holds, so that searches find something, or a text of its own. */
function partOf(random: Random, rows: readonly Held[]): string {
  const text = Object.values(rows[below(random, rows.length)]?.texts ?? {})[below(random, 4)]
  if (below(random, 3) === 0 || text === null || text === undefined)
    return textOf(random, LETTERS, 1 + below(random, 2))
  const points = [...text]
  const start = below(random, points.length)
  const part = points.slice(start, start + 1 + below(random, 4)).join('')
  return below(random, 2) === 0 ? part : part.toUpperCase()
}

/** A word as it is looked for, and as it is written: one that has blanks stands in quotes, and has none itself. */
function wordOf(random: Random, rows: readonly Held[]): { readonly word: string; readonly written: string } {
  const part = partOf(random, rows)
  const isPhrase = /[ "]/.test(part)
  const word = isPhrase ? part.replaceAll('"', '') : part
  if (word.trim() === '') return { word: 'a', written: 'a' }
  return { word, written: isPhrase || below(random, 4) === 0 ? `"${word}"` : word }
}

test('a search finds the records that have every word in some field that the caller may read', async (t) => {
  t.timeout(240_000 + cases * 200)
  t.log(`${cases} searches, SEARCH_SEED=${seed}`)
  const random = randomOf(seed)
  const [Team, Person] = models
  const teams = Array.from({ length: 4 }, () => sentenceOf(random))
  await Team?.bulkCreate(teams.map((name) => ({ name })))
  const rows = Array.from({ length: 60 }, (_, index): Held & { readonly teamId: number | null } => {
    const teamId = below(random, 5) === 0 ? null : 1 + below(random, 5)
    const own = { name: sentenceOf(random), email: sentenceOf(random), note: sentenceOf(random) }
    return { id: index + 1, teamId, texts: { ...own, team: (teamId === null ? null : teams[teamId - 1]) ?? null } }
  })
  await Person?.bulkCreate(rows.map(({ texts: { team, ...own }, teamId }) => ({ ...own, teamId })))
  let found = 0
  for (let each = 0; each < cases; each++) {
    const words = Array.from({ length: 1 + below(random, 3) }, () => wordOf(random, rows))
    const search = words.map(({ written }) => written).join(pick(random, BLANKS))
    const isMasked = below(random, 3) === 0
    const expected = rows.filter(({ texts: { email, ...shown } }) => {
      const texts = Object.values(isMasked ? shown : { ...shown, email }).map((text) => foldAscii(text ?? ''))
      return words.every(({ word }) => texts.some((text) => text.includes(foldAscii(word))))
    })
    const hint = `SEARCH_SEED=${seed} ${JSON.stringify(search)}${isMasked ? ', masked' : ''}`
    const keys = await keysOf(stage, isMasked ? '/masked' : '/open', { search, sort: 'id', pageSize: 100 })
    found += keys.length
    if (
      !t.deepEqual(
        keys,
        expected.map(({ id }) => id),
        hint,
      )
    )
      return
  }
  t.true(found > cases, `${found} records found`)
})
