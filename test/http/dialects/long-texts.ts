// What is within a text, at its start and at its end, in texts of any length and of any bytes: held against what
// JavaScript makes of the same texts, and answered in time that grows with the text and no faster.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'

const served = await openStage<{ Plain: ModelStatic<Model>; Hooked: ModelStatic<Model>; Owner: ModelStatic<Model> }>(
  ({ sequelize }, app) => {
    const attributes = {
      text: isMysql ? DataTypes.TEXT('long') : DataTypes.TEXT,
      bytes: DataTypes.STRING(200, true),
      padded: DataTypes.CHAR(20),
      ownerId: DataTypes.INTEGER,
    }
    const options = { tableName: 'texts', timestamps: false }
    const Plain = sequelize.define('Plain', attributes, options)
    const hooks = { beforeFind: () => undefined }
    const Hooked = sequelize.define('Hooked', attributes, { ...options, hooks })
    const Owner = sequelize.define('Owner', { name: DataTypes.STRING }, { timestamps: false })
    Owner.hasMany(Plain, { as: 'texts', foreignKey: 'ownerId', constraints: false })
    const limits = { bodySize: 8_000_000, filterLength: 8000 }
    for (const model of [Plain, Hooked, Owner]) {
      app.use(crudRouter(model, { operations: Operations.AllWithBulk, limits }))
    }
    return { Plain, Hooked, Owner }
  },
)
test.after.always(() => served.close())

/** As a filter has it. */
function operand(text: string): string {
  return text.replace(/[\\,|();/ =<>]/g, '\\$&')
}

async function found(filter: string, path = '/api/plains'): Promise<readonly number[]> {
  const { status, body, text } = await list(served, path, { filter, sort: 'id', pageSize: 1000, select: 'id' })
  if (status !== 200) throw new Error(`${filter.slice(0, 100)}: ${status} ${text}`)
  return body.items.map(({ id }: { id: number }) => id)
}

async function stored(rows: readonly object[]): Promise<readonly number[]> {
  await served.Plain.destroy({ where: {} })
  const { status, body, text } = await served.post('/api/plains/bulk', rows)
  if (status !== 201) throw new Error(text)
  return body.map(({ id }: { id: number }) => id)
}

const LAWS: readonly (readonly [operator: string, law: (text: string, part: string) => boolean])[] = [
  ['=*', (text, part) => text.includes(part)],
  ['!*', (text, part) => !text.includes(part)],
  ['^', (text, part) => text.startsWith(part)],
  ['!^', (text, part) => !text.startsWith(part)],
  ['$', (text, part) => text.endsWith(part)],
  ['!$', (text, part) => !text.endsWith(part)],
]

const lower = (text: string): string =>
  databaseName === 'sqlite' ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text.toLowerCase()

const TEXTS = [
  ...['', 'b', 'ab', 'AB', 'aab', 'abb', 'ba', 'ab ', ' ab', '%ab', '*ab', '_', '[ab]', '?', '|', "'ab", '"'],
  ...['łab', 'aŁ', 'abł', 'ł', 'Ł', 'żółw', 'ŻÓŁW', '漢字', '字', '😀', 'a😀', '😁😀', 'é', 'e\u0301', '\u0301'],
]

test.serial('parts of texts are found character by character, where the text is shorter too', async (t) => {
  const ids = await stored([...TEXTS.map((text) => ({ text, bytes: text })), { text: null, bytes: null }])
  const texts = [...TEXTS, null]
  for (const [operator, law] of LAWS) {
    for (const part of TEXTS.filter((text) => text !== '')) {
      const met = (fold: (text: string) => string): readonly number[] =>
        ids.filter((_, index) => {
          const text = texts[index] ?? null
          return text === null ? operator.startsWith('!') : law(fold(text), fold(part))
        })
      for (const field of ['text', 'bytes']) {
        t.deepEqual(await found(`${field}${operator}${operand(part)}`), met(String), `${field}${operator}${part}`)
        t.deepEqual(await found(`${field}${operator}${operand(part)}/i`), met(lower), `${field}${operator}${part}/i`)
      }
    }
  }
})

test.serial('behind find hooks and in the elements of a collection it is the same', async (t) => {
  const ids = await stored(TEXTS.map((text) => ({ text, bytes: text })))
  const { body: owner } = await served.post('/api/owners', { name: 'o' })
  await served.Plain.update({ ownerId: owner.id }, { where: {} })
  for (const [operator, law] of LAWS) {
    for (const part of ['ab', 'ł', '😀', '%', "'", 'x'.repeat(80)]) {
      for (const [field, end] of [
        ['text', ''],
        ['bytes', ''],
        ['text', '/i'],
      ]) {
        const clause = `${field}${operator}${operand(part)}${end}`
        const fold = end === '' ? String : lower
        const met = ids.filter((_, index) => law(fold(TEXTS[index] ?? ''), fold(part)))
        t.deepEqual(await found(clause, '/api/hookeds'), met, clause)
        t.deepEqual(await found(`Texts.Any.${clause}`, '/api/owners'), met.length > 0 ? [owner.id] : [], clause)
        const isAll = met.length === ids.length
        t.deepEqual(await found(`Texts.All.${clause}`, '/api/owners'), isAll ? [owner.id] : [], clause)
      }
    }
  }
})

test.serial('blanks at the end of a CHAR are no part of it', async (t) => {
  const [first, second] = await stored([{ padded: 'ab' }, { padded: 'b a' }])
  t.deepEqual(await found('padded$b'), [first])
  t.deepEqual(await found('padded$B/i'), [first])
  t.deepEqual(await found('padded$ab'), [first])
  t.deepEqual(await found('padded!$b'), [second])
  t.deepEqual(await found('padded$a'), [second])
})

if (databaseName !== 'postgres') {
  test.serial('texts that others have stored with NUL characters end where they end', async (t) => {
    await served.Plain.destroy({ where: {} })
    const nul = databaseName === 'sqlite' ? 'char(0)' : 'CONVERT(CHAR(0) USING utf8mb4)'
    const join = (...parts: readonly string[]): string =>
      databaseName === 'sqlite' ? parts.join(' || ') : `CONCAT(${parts.join(', ')})`
    for (const [id, text] of [
      [1, join("'ab'", nul)],
      [2, join(nul, "'ab'")],
      [3, join("'ab'", nul, "'cAb'")],
      [4, "'ab'"],
    ]) {
      await served.sequelize.query(`INSERT INTO texts (id, text) VALUES (${id}, ${text})`)
    }
    t.deepEqual(await found('text$b'), [2, 3, 4])
    t.deepEqual(await found('text$ab'), [2, 4])
    t.deepEqual(await found('text$ab/i'), [2, 3, 4])
    t.deepEqual(await found('text!$b'), [1])
  })
}

// Texts in which every place looks like the beginning of what is looked for, and what is looked for as long as it gets.
const slow = (length: number): readonly string[] => [
  'a'.repeat(length),
  `${'a'.repeat(length - 1)}b`,
  'ł'.repeat(length / 2),
]

test.serial('a text of a million characters that is made to be slow is answered', async (t) => {
  t.timeout(120_000)
  const ids = await stored(slow(1_000_000).map((text) => ({ text })))
  // JavaScript would take seconds, too.
  const texts = slow(10_000)
  const run = 'a'.repeat(3000)
  const parts = [run, `${run}b`, `b${run}`, `${run}b${run}`, 'ł'.repeat(1500), `${'ł'.repeat(1500)}a`, 'a'.repeat(65)]
  for (const part of parts) {
    for (const [operator, law] of LAWS) {
      const met = ids.filter((_, index) => law(texts[index] ?? '', part))
      for (const end of ['', '/i']) {
        t.deepEqual(await found(`text${operator}${part}${end}`), met, `text${operator}${part.slice(0, 5)}…${end}`)
      }
    }
  }
})
