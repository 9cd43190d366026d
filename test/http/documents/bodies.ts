// What a document says of bodies and what the service says of them is the same: bodies made from the schemas, and mutated at
// random, are refused for their form by both or by neither.
//
// BODIES_SEED=n repeats a run, BODIES_CASES=n makes it longer.

import { randomInt } from 'node:crypto'
import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, type JsonSchema, type OpenApiDocument, Operations, openApi } from '../../../lib/index.js'
import { OPERATIONS } from '../../../lib/operations.js'
import { chance, mixed, oneOf } from '../../fuzz/choose.js'
import { randomOf } from '../../support/differential/random.js'
import { defineKinds, INFO, KIND_OPTIONS } from '../../support/documented.js'
import { validatorFor } from '../../support/replies.js'
import { Bodies } from '../../support/schemaBodies.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const seed = Number(process.env.BODIES_SEED ?? randomInt(2 ** 31))
const cases = Number(process.env.BODIES_CASES ?? 300)

const test = ava.serial
/** All but restore, which has no body. */
const ALL = Object.values(OPERATIONS).reduce((sum, { flag }) => sum | flag, 0) - Operations.Restore

let document: OpenApiDocument | null = null

const stage = await openStage(({ sequelize }, app) => {
  const isPostgres = sequelize.getDialect() === 'postgres'
  const Kind = defineKinds(sequelize)
  const Team = sequelize.define('Team', {
    name: { type: DataTypes.STRING(20), allowNull: false },
    code: { type: DataTypes.STRING(4), unique: true },
    mail: DataTypes.STRING(40),
  })
  const Player = sequelize.define('Player', {
    name: { type: DataTypes.STRING(20), allowNull: false },
    level: { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } },
    teamId: { type: DataTypes.INTEGER, allowNull: false },
  })
  const Seat = sequelize.define(
    'Seat',
    {
      hall: { type: DataTypes.STRING(8), primaryKey: true },
      number: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: false },
      note: { type: DataTypes.STRING(8), validate: { is: /^[a-z ]*$/ } },
    },
    { timestamps: false },
  )
  const Odd = sequelize.define(
    'Odd',
    {
      tiny: isPostgres ? DataTypes.SMALLINT : DataTypes.TINYINT,
      free: DataTypes.INTEGER.UNSIGNED,
      huge: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0, validate: { max: 10 } },
      whole: DataTypes.DECIMAL(5, 0),
      ratio: DataTypes.DECIMAL(3, 3),
      rough: DataTypes.DECIMAL(20, 2),
      bytes: isPostgres ? DataTypes.STRING(4) : DataTypes.STRING(4).BINARY,
      pad: DataTypes.CHAR(3),
      long: DataTypes.TEXT,
      ruled: DataTypes.STRING,
      twice: DataTypes.STRING(30),
      part: { type: DataTypes.FLOAT, validate: { min: -1.5, max: 1.5 } },
      needed: DataTypes.STRING,
      lax: { type: DataTypes.STRING, allowNull: false, defaultValue: '' },
      once: DataTypes.DATE,
    },
    { timestamps: false },
  )
  const Mark = sequelize.define('Mark', {
    text: { type: DataTypes.STRING(8), allowNull: false },
    aboutId: { type: DataTypes.INTEGER, allowNull: false },
    aboutType: { type: DataTypes.STRING(8), allowNull: false },
  })
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(8) }, { timestamps: false })
  Odd.belongsToMany(Tag, { as: 'tags', through: 'odd_tags', timestamps: false })
  Odd.hasOne(Mark, { as: 'mark', foreignKey: 'aboutId', constraints: false, scope: { aboutType: 'odd' } })
  const Word = sequelize.define('Word', {
    text: { type: DataTypes.STRING(8), primaryKey: true },
    rank: DataTypes.INTEGER,
  })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const resources = [
    crudRouter(Kind, { ...KIND_OPTIONS, operations: ALL, softDelete: true }),
    crudRouter(Kind, { operations: ALL, route: 'api/loose', names: { response: 'Loose' } }),
    crudRouter(Player, { operations: ALL, concurrency: true, unknownProperties: 'reject' }),
    crudRouter(Team, {
      operations: ALL,
      fields: { mail: { rules: { email: true } } },
      relations: { players: { routes: true, write: true } },
    }),
    crudRouter(Odd, {
      operations: ALL,
      unknownProperties: 'reject',
      relations: { mark: { write: true }, tags: { routes: true, write: true } },
      fields: {
        ruled: { rules: { minLength: 2, maxLength: 6, match: /^[a-zä]+$/ } },
        twice: { rules: { match: /^[^0-9]/u, email: true } },
        rough: { decimal: 'string' },
        needed: { rules: { required: true } },
        lax: { rules: { required: false } },
        once: { only: ['create', 'response', 'list'] },
      },
    }),
    crudRouter(Tag, { operations: ALL }),
    crudRouter(Mark, { unknownProperties: 'reject' }),
    crudRouter(Seat, { operations: ALL, unknownProperties: 'reject' }),
    crudRouter(Word, { operations: ALL }),
  ]
  for (const resource of resources) app.use(resource)
  document = openApi({ resources, info: INFO })
})
const { sequelize } = stage
const model = (name: string): ModelStatic<Model> => sequelize.model(name)
await model('Kind').bulkCreate([1, 2, 3].map(() => ({ name: 'abc', isOpen: true, day: '2024-01-01' })))
await model('Team').bulkCreate([{ name: 'Bulls' }, { name: 'Heat' }])
await model('Player').bulkCreate([1, 2, 3].map(() => ({ name: 'Anna', level: 5, teamId: 1, rowVersion: 0 })))
await model('Odd').bulkCreate([{ needed: 'a' }])
await model('Tag').bulkCreate([1, 2, 3, 4, 5].map(() => ({ name: 'tag' })))
await model('Seat').bulkCreate([{ hall: 'a', number: 1 }])
await model('Word').bulkCreate([{ text: 'word' }])

test.after.always(() => stage.close())

type Verb = 'put' | 'post' | 'patch'

/** An operation that takes a body. */
interface Target {
  readonly verb: Verb
  readonly path: string
  readonly url: string
  readonly schema: JsonSchema
}

/** The records that single writes go to, by the path of their collection. */
const RECORDS: Readonly<Record<string, string>> = { '/api/seats': 'a~1', '/api/words': 'word' }

function targets({ paths }: OpenApiDocument): readonly Target[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    (['post', 'put', 'patch'] as const).flatMap((verb) => {
      const operation = item[verb]
      const schema = Object(operation?.requestBody).content?.['application/json']?.schema
      if (schema === undefined) return []
      const [collection = ''] = path.split('/{id}')
      const url = path.replace('{id}', RECORDS[collection] ?? '1')
      const by = operation?.parameters?.find(({ name }) => name === 'by')
      if (by === undefined) return [{ verb, path, url, schema }]
      // Where nothing tells records apart there is nothing to send.
      const [first] = Object(by.schema).examples ?? []
      return first === undefined ? [] : [{ verb, path, url: `${url}?by=${first}`, schema }]
    }),
  )
}

// ---------------------------------------------------------------- what schemas do not say

function everyValue(value: unknown, visit: (value: unknown, name: string) => boolean, name = ''): boolean {
  if (!visit(value, name)) return false
  return (
    typeof value !== 'object' ||
    value === null ||
    Object.entries(value).every(([key, each]) => everyValue(each, visit, key))
  )
}

const KEY_NAMES: ReadonlySet<string> = new Set(['id', 'number'])

const DECIMALS: ReadonlyMap<string, number> = new Map([
  ['price', 2],
  ['sum', 2],
  ['whole', 0],
  ['ratio', 3],
  ['rough', 2],
])

/** Digits of decimals as numbers, bounds of theirs as text, and patterns with flags are told in descriptions. */
function isTold(value: unknown, name: string): boolean {
  // Hooks may fill what its column does not take.
  if (name === 'lax') return value !== null
  if (typeof value === 'string') {
    if (/\0|\p{Surrogate}/u.test(value)) return false
    // A key is also taken as the text that it is in a path.
    if (KEY_NAMES.has(name) && /^-?\d+$/.test(value)) return false
    // The model's own validator knows more of addresses.
    if (name === 'email') return !value.includes('@') || value === 'name@example.com'
    if (name === 'word') return /^x/i.test(value)
    return name !== 'price' || !/^-/.test(value)
  }
  if (typeof value !== 'number') return true
  // A key is also taken as the text that it is in a path.
  if (name === 'text') return false
  const most = DECIMALS.get(name)
  if (most === undefined) return true
  const [, digits = '', places = ''] = /^-?(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? []
  return digits !== '' && places.length <= most && digits.length + places.length <= 15
}

const KEYS: Readonly<Record<string, readonly string[]>> = { '/api/seats': ['hall', 'number'], '/api/words': ['text'] }

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Keys that are not that of the path, or come twice. */
function isAsKeyed({ path, url }: Target, body: unknown): boolean {
  const [collection = ''] = path.split(/\/\{id\}|\/bulk/)
  const names = KEYS[collection] ?? ['id']
  const linked = path.endsWith('/tags') ? body : [body].flat().map((each) => Reflect.get(Object(each), 'tags'))
  if ([linked].flat(2).some((each) => typeof each === 'string')) return false
  const keyOf = (item: unknown): string => names.map((name) => textOf(Reflect.get(Object(item), name))).join('~')
  if (path.endsWith('{id}')) {
    const own = names.every((name) => Object.hasOwn(Object(body), name)) ? keyOf(body) : null
    return (
      names.every((name) => !Object.hasOwn(Object(body), name)) ||
      own === decodeURIComponent(url.split('/').at(-1) ?? '')
    )
  }
  if (!Array.isArray(body)) return true
  const keys = path.endsWith('-delete') ? body.map(textOf) : body.map(keyOf)
  // Those that single writes go to stay.
  if (path.endsWith('-delete') && keys.some((key) => key === '1' || Object.values(RECORDS).includes(key))) return false
  return new Set(keys.map((key) => key.trim().toLowerCase())).size === keys.length
}

const HELD: ReadonlySet<string> = new Set(['/api/teams/{id}', '/api/odds/{id}'])

/**
 * What only the records that are there tell: whether an item makes one, or changes one; of what is not there nothing is told
 * but that. And an owner, or a key, that a body says beside another one.
 */
function isTheirs({ path, verb }: Target, { status, body }: Answer): boolean {
  const mayMake = verb !== 'post' && (path.endsWith('/bulk') || HELD.has(path))
  if (status === 404 || status === 412 || status === 428) return mayMake
  const messages = Object.values<readonly string[]>(Object(body?.errors)).flat()
  const known = ['must be the owner.', 'is there twice.', 'does not exist.', ...(mayMake ? ['is required.'] : [])]
  return status === 400 && messages.length > 0 && messages.every((each) => known.includes(each))
}

type Values = Readonly<Record<string, string | number>>

const OWNED: Readonly<Record<string, { readonly name: string; readonly values: Values }>> = {
  '/api/players/{id}': { name: 'Player', values: { name: 'Anna', teamId: 1 } },
  '/api/marks/{id}': { name: 'Mark', values: { text: 'mark', aboutId: 1, aboutType: 'odd' } },
}

// ---------------------------------------------------------------- the property

test('bodies are refused for their form where their schema does not allow them, and nowhere else', async (t) => {
  t.timeout(60_000 + cases * 100)
  if (document === null) throw new TypeError('there is no document')
  const { ajv, validatorAt } = validatorFor(document)
  const all = targets(document)
  const counts = { allowed: 0, refused: 0, left: 0 }
  const found: string[] = []
  for (let index = 0; index < cases && found.length < 10; index += 1) {
    const random = randomOf(mixed(seed, index))
    const bodies = new Bodies(document, ajv, random)
    const target = oneOf(random, all)
    let body = bodies.make(target.schema)
    while (chance(random, 0.4)) body = bodies.mutate(body)
    if (!everyValue(body, isTold) || !isAsKeyed(target, body)) {
      counts.left += 1
      continue
    }
    const { path, verb, url } = target
    const validate = validatorAt(['paths', path, verb, 'requestBody', 'content', 'application/json', 'schema'])
    const isAllowed = validate(body) === true
    const headers = path === '/api/players/{id}' ? { 'if-match': '*' } : {}
    // What belongs to others goes with their bodies.
    const owned = OWNED[path]
    if (owned !== undefined) await model(owned.name).findOrCreate({ where: { id: 1 }, defaults: owned.values })
    const answer = await stage.send(verb.toUpperCase(), url, { json: body, headers })
    const isRefused = answer.status === 400
    counts[isAllowed ? 'allowed' : 'refused'] += 1
    // Keys are also taken as the texts that they are in paths, and what is the key of no record is passed over.
    const isPassed = path.endsWith('/bulk-delete') && Array.isArray(body) && answer.status === 200
    if (answer.status < 500 && (isAllowed !== isRefused || isPassed || isTheirs(target, answer))) continue
    found.push(
      `${verb} ${url} ${JSON.stringify(body)}\n  schema: ${isAllowed ? 'allowed' : ajv.errorsText(validate.errors)}\n  service: ${answer.status} ${answer.text}`,
    )
  }
  t.log(`${counts.allowed} allowed, ${counts.refused} refused, ${counts.left} left out, BODIES_SEED=${seed}`)
  if (found.length === 0) t.pass()
  else t.fail(`${found.length} of ${cases}\n${found.join('\n')}`)
})
