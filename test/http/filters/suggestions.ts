// Suggestions in answers to queries. They come from the fields that the caller may use, so that they tell nothing of others.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, identityFromRequest, Operations } from '../../../lib/index.js'
import { list, type Parameters } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const served = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Club = sequelize.define('Club', { name: DataTypes.STRING }, plain)
  const Player = sequelize.define(
    'Player',
    {
      name: DataTypes.STRING,
      level: DataTypes.INTEGER,
      active: DataTypes.BOOLEAN,
      salary: DataTypes.INTEGER,
      password: DataTypes.STRING,
      state_of_the_game_now: DataTypes.STRING,
      'home.town': DataTypes.STRING,
    },
    plain,
  )
  Player.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
  Club.hasMany(Player, { as: 'players', foreignKey: 'clubId' })
  app.use((req, _res, next) => {
    const { permissions } = req.headers
    if (permissions !== undefined) Object.assign(req, { auth: { permissions: [permissions].flat() } })
    next()
  })
  app.use(
    crudRouter(Player, {
      identity: identityFromRequest,
      operations: Operations.All | Operations.Aggregate,
      mask: { salary: 'salaries' },
      fields: { password: { exclude: ['query', 'response'] } },
    }),
  )
  app.use(crudRouter(Club, { identity: identityFromRequest }))
  app.use(crudRouter(Player, { route: 'api/keyless', fields: { id: { exclude: 'response' } } }))
  app.use(crudRouter(Player, { route: 'api/ends', relations: { club: false } }))
  app.use(
    crudRouter(sequelize.define('Worker', { job_title: DataTypes.STRING, salary: DataTypes.INTEGER }, plain), {
      identity: identityFromRequest,
      mask: { salary: 'salaries' },
      fields: { job_title: { name: 'post' }, salary: { name: 'wage' } },
    }),
  )
  return { Club, Player }
})

test.after.always(() => served.close())

async function messageOf(path: string, parameters: Parameters): Promise<string> {
  const { status, body } = await list(served, path, parameters)
  if (status !== 400) throw new Error(`${status} ${JSON.stringify(body)}`)
  const [message] = Object.values(body.errors).flat()
  return String(message)
}

for (const [parameters, hint] of [
  [{ filter: 'Nmae=x' }, ' Did you mean "name"?'],
  [{ filter: 'Level>1,Nmae=x' }, ' Did you mean "name"?'],
  [{ sort: '-Levle' }, ' Did you mean "level"?'],
  [{ select: 'Name,Levle' }, ' Did you mean "level"?'],
  [{ filter: 'Zzzzzz=x' }, ''],
  [{ filter: 'X=x' }, ''],
  [{ filter: 'Club.Nmae=x' }, ' Did you mean "Club.name"?'],
  [{ sort: 'club.nmae' }, ' Did you mean "club.name"?'],
  [{ select: 'Name,Club.Nmae' }, ' Did you mean "Club.name"?'],
  [{ filter: 'Clbu.Name=x' }, ''],
  [{ filter: 'state_of_the_game_now=x' }, ' Did you mean "stateOfTheGameNow"?'],
  [{ sort: 'STATE_OF_THE_GAME_NOW' }, ' Did you mean "stateOfTheGameNow"?'],
  [{ select: 'state_of_the_game_now' }, ' Did you mean "stateOfTheGameNow"?'],
  [{ group: 'Levle' }, ' Did you mean "level"?'],
  [{ aggregate: 'count,avg(Levle)' }, ' Did you mean "level"?'],
  [{ aggregate: 'avg(Nmae)' }, ''],
  [{ group: 'Club.Nmae' }, ' Did you mean "Club.name"?'],
  [{ group: 'Level', aggregate: 'count', having: 'avg(Levle)>1' }, ' Did you mean "level"?'],
  [{ filter: `Nam${'e'.repeat(60)}=x` }, ''],
  [{ filter: 'Id=1' }, ' Filters cannot use the key. Use the parameter keys, such as keys=1,2.'],
  [{ filter: 'Level>1|id=in=1;2' }, ' Filters cannot use the key. Use the parameter keys, such as keys=1,2.'],
  [
    { filter: 'Club.Id=1' },
    ' Filters cannot use the key of related records here. Filter by another field, such as a foreign key.',
  ],
  [{ filter: 'partsCount>1' }, ' For the number of records use "parts.Count".'],
  [{ filter: 'club.parts_Count>1' }, ''],
  [{ select: 'club.partsCount' }, ' For the number of records use "club.parts.Count".'],
  [{ sort: '-partsCount' }, ' For the number of records use "parts.Count".'],
  [{ filter: 'Count=1' }, ''],
  [{ sort: 'Club' }, ' Lists cannot be sorted by a relation. Sort by one of its fields, such as team.name.'],
] as const) {
  test(`${JSON.stringify(parameters).slice(0, 60)} is answered with ${hint === '' ? 'no hint' : hint.trim()}`, async (t) => {
    t.regex(await messageOf('/api/players', parameters), /^Unknown field "[^"]+" at position \d+\./)
    t.is((await messageOf('/api/players', parameters)).replace(/^Unknown field "[^"]+" at position \d+\./, ''), hint)
  })
}

test('a field that the caller may not use is never suggested, nor is an answer to its name another one', async (t) => {
  for (const parameter of ['filter', 'sort']) {
    const asked = (name: string): Parameters => ({ [parameter]: parameter === 'filter' ? `${name}>1` : name })
    for (const name of ['salary', 'salarie', 'password', 'passwort']) {
      t.is(await messageOf('/api/players', asked(name)), `Unknown field "${name}" at position 0.`)
    }
    const query = new URLSearchParams({ [parameter]: parameter === 'filter' ? 'salarie>1' : 'salarie' })
    const { body } = await served.get(`/api/players?${query}`, { permissions: 'salaries' })
    t.deepEqual(body.errors, { [parameter]: ['Unknown field "salarie" at position 0. Did you mean "salary"?'] })
  }
  t.is(await messageOf('/api/players', { select: 'salarie' }), 'Unknown field "salarie" at position 0.')
})

test('a name that the query language cannot write is not suggested', async (t) => {
  for (const query of ['filter=homeTown=x', 'sort=homeTown', 'select=homeTown', 'group=homeTown']) {
    const [parameter = ''] = query.split('=')
    const { body } = await served.get(`/api/players?${query}`)
    t.deepEqual(body.errors, { [parameter]: ['Unknown field "homeTown" at position 0.'] })
  }
})

test('a key that answers do not show, and a closed relation, are like any other unknown name', async (t) => {
  t.is(await messageOf('/api/keyless', { filter: 'Id=1' }), 'Unknown field "Id" at position 0.')
  for (const sort of ['Club', 'Cluby']) {
    t.is(await messageOf('/api/ends', { sort }), `Unknown field "${sort}" at position 0. Did you mean "clubId"?`)
  }
})

test('the elements of a collection have no suggestions of their owner', async (t) => {
  const meant = 'Unknown field "Nmae" at position 12. Did you mean "name"?'
  t.is(await messageOf('/api/clubs', { filter: 'Players.Any(Nmae=x)' }), meant)
  t.is(
    await messageOf('/api/clubs', { filter: 'Players.Nmae=x' }),
    'Unknown field "Players.Nmae" at position 0. Did you mean "Players.name"?',
  )
  // A relation that one of the resources closes.
  t.is(
    await messageOf('/api/clubs', { filter: 'Players.Any(Club.Nmae=x)' }),
    'Unknown field "Club.Nmae" at position 12.',
  )
  t.is(
    await messageOf('/api/clubs', { select: 'players(nmae)' }),
    'Unknown field "players.nmae" at position 8. Did you mean "players.name"?',
  )
  t.is(
    await messageOf('/api/clubs', { select: 'players(name)', 'players.sort': '-Levle' }),
    'Unknown field "Levle" at position 0. Did you mean "level"?',
  )
  // One of the resources over players does not show the key.
  t.is(await messageOf('/api/clubs', { filter: 'Players.Any(Id=1)' }), 'Unknown field "Id" at position 12.')
  t.is(
    await messageOf('/api/clubs', { select: 'players(name)', 'players.filter': 'Id=1' }),
    'Unknown field "Id" at position 0.',
  )
})

test('what is masked is suggested behind relations and in aggregates to those alone who may see it', async (t) => {
  const all = { permissions: 'salaries' }
  for (const [path, query, meant] of [
    ['/api/clubs', 'filter=Players.Any(Salarie=1)', 'salary'],
    ['/api/clubs', 'filter=Players.Salarie=1', 'Players.salary'],
    ['/api/clubs', 'select=players(salarie)', 'players.salary'],
    ['/api/clubs', 'select=name,players(name)&players.sort=Salarie', 'salary'],
    ['/api/players', 'group=Salarie', 'salary'],
    ['/api/players', 'aggregate=avg(Salarie)', 'salary'],
  ] as const) {
    const told = async (headers: Record<string, string>): Promise<string> =>
      String(Object.values((await served.get(`${path}?${query}`, headers)).body.errors).flat())
    t.notRegex(await told({}), /Did you mean/, query)
    t.true((await told(all)).endsWith(` Did you mean "${meant}"?`), query)
  }
})

test('words and quotes of other languages in a value are answered with a hint', async (t) => {
  const between = ' (between comparisons "," means and, "|" means or).'
  for (const value of ['30 and Name^Jan', '30 OR Level<9', '30&Level<9', '30 && Level<9']) {
    const message = `Level at position 0: "${value}" is not a whole number${between}`
    t.is(await messageOf('/api/players', { filter: `Level>${value}` }), message)
  }
  t.is(
    await messageOf('/api/players', { filter: "Level='5'" }),
    `Level at position 0: "'5'" is not a whole number (there are no quotes around values).`,
  )
  t.is(await messageOf('/api/players', { filter: 'Level=sand' }), 'Level at position 0: "sand" is not a whole number.')
})

test('the name of an attribute is answered with its name in JSON, as a parameter too', async (t) => {
  const renamed = async (query: string, headers = {}): Promise<unknown> =>
    Object.values((await served.get(`/api/workers?${query}`, headers)).body.errors)
  const unknown = 'is not a parameter of this list.'
  t.deepEqual(await renamed('job_title=x'), [[`${unknown} Did you mean "post"?`]])
  t.deepEqual(await renamed('filter=job_title=x'), [['Unknown field "job_title" at position 0. Did you mean "post"?']])
  t.deepEqual(await renamed('salary=1', { permissions: 'salaries' }), [[`${unknown} Did you mean "wage"?`]])
  t.deepEqual(await renamed('salary=1'), [[unknown]])
})
