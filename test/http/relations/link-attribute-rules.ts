// Where links have no member in paths, what the member is called, and what it counts.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial
const warnings: Error[] = []
process.on('warning', (warning) => warnings.push(warning))

interface Linked {
  readonly Left: ModelStatic<Model>
  readonly Right: ModelStatic<Model>
  readonly Link: ModelStatic<Model>
}

/** Two models and the one between them, named after a word. */
function linked(
  sequelize: Sequelize,
  word: string,
  link: object = {},
  through: object = {},
  options: object = { timestamps: false },
): Linked {
  const plain = { timestamps: false }
  const Left = sequelize.define(`${word}Left`, { name: DataTypes.STRING }, plain)
  const Right = sequelize.define(`${word}Right`, { name: DataTypes.STRING }, plain)
  const Link = sequelize.define(`${word}Link`, { rank: DataTypes.INTEGER, ...link }, options)
  Left.belongsToMany(Right, {
    as: 'rights',
    through: { model: Link, ...through },
    foreignKey: 'leftId',
    otherKey: 'rightId',
  })
  return { Left, Right, Link }
}

const id = { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } }
const all: Record<string, Linked> = {}

const server = await openStage(({ sequelize }, app) => {
  const mount = (word: string, { Left, Right, Link }: Linked, options: CrudOptions = {}, of = Link): void => {
    all[word] = { Left, Right, Link }
    app.use(
      crudRouter(Left, {
        route: word.toLowerCase(),
        relations: { rights: { routes: true } },
        ...options,
      } as CrudOptions),
    )
    app.use(crudRouter(Right, { route: `${word.toLowerCase()}-right` }))
    if (of === Link) app.use(crudRouter(Link, { route: `${word.toLowerCase()}-link` }))
  }
  mount('Bare', linked(sequelize, 'Bare'), {}, Object as never)
  // Nothing in the table forbids two links of one pair.
  mount('Twice', linked(sequelize, 'Twice', id, { unique: false }))
  const taken = linked(sequelize, 'Taken')
  Reflect.apply(taken.Right.belongsTo, taken.Right, [
    taken.Right,
    { as: 'takenLink', foreignKey: 'selfId', constraints: false },
  ])
  mount('Taken', taken)
  mount('Own', linked(sequelize, 'Own'), { naming: 'attribute' })
  mount('Made', linked(sequelize, 'Made'), { naming: (name, { kind }) => (name === 'MadeLink' ? `as_${kind}` : name) })
  mount('Deep', linked(sequelize, 'Deep'), { limits: { pathDepth: 1, joins: 3 } })
  mount('Two', linked(sequelize, 'Two'), { limits: { pathDepth: 2 } })
  mount('Gone', linked(sequelize, 'Gone', {}, {}, { timestamps: true, paranoid: true }))
  const closed = linked(sequelize, 'Closed')
  mount('Closed', closed, {}, Object as never)
  app.use(crudRouter(closed.Link, { route: 'closed-link', operations: ['create'] }))
})
test.after.always(() => server.close())

test.before(async () => {
  for (const { Left, Right, Link } of Object.values(all)) {
    await Left.create({ name: 'l' })
    await Right.create({ name: 'r' })
    await Link.create({ leftId: 1, rightId: 1, rank: 5 })
  }
})

const told = async (path: string): Promise<string> => {
  const { status, text, body } = await server.get(path)
  return status === 200 ? JSON.stringify(body.items) : `${status} ${text}`
}

test('without a resource over the join model, or where links of a pair may repeat, the member is unknown', async (t) => {
  for (const word of ['bare', 'twice']) {
    t.is(await told(`/${word}?select=rights(name)`), '[{"rights":[{"name":"r"}]}]', word)
    for (const query of [`select=rights(${word}Link.rank)`, `filter=rights.${word}Link.rank=5`]) {
      t.regex(await told(`/${word}?${query}`), /^400 .*Unknown field/, `${word} ${query}`)
    }
    t.regex(await told(`/${word}/1/rights?select=${word}Link.rank`), /^400 .*Unknown field/)
  }
})

test('a resource over the join model that serves no reads closes the relation, as before', async (t) => {
  t.regex(await told('/closed?filter=rights.closedLink.rank=5'), /^400 .*Unknown field/)
})

test('a member of the target by that name wins, and the process warns once', async (t) => {
  for (let round = 0; round < 2; round += 1) {
    t.is(await told('/taken?select=rights(name,takenLink(name))'), '[{"rights":[{"name":"r","takenLink":null}]}]')
  }
  t.regex(await told('/taken?select=rights(takenLink(rank))'), /Unknown field/)
  t.is(await told('/taken/1/rights?select=takenLink(name)'), '[{"takenLink":null}]')
  await new Promise((resolve) => setImmediate(resolve))
  const own = warnings.filter((warning) => Reflect.get(warning, 'code') === 'CRUD_LINK_NAME')
  t.is(own.length, 1)
  t.is(
    own[0]?.message,
    'TakenLeft: relations.rights: clients cannot use the attributes of the join model TakenLink, because TakenRight already has a member "takenLink". Give that member another name.',
  )
})

test('the member is named as the join model, by the naming of the resource', async (t) => {
  t.is(await told('/own?select=rights(OwnLink(rank))'), '[{"rights":[{"OwnLink":{"rank":5}}]}]')
  t.is(await told('/own/1/rights?select=ownlink(rank)&filter=OwnLink.rank=5'), '[{"OwnLink":{"rank":5}}]')
  t.is(await told('/made?select=rights(as_relation(rank))'), '[{"rights":[{"as_relation":{"rank":5}}]}]')
})

test('the member counts as a relation of the path', async (t) => {
  t.regex(await told('/deep?select=rights(deepLink.rank)'), /more relations than the limit of 1 \(pathDepth\)/)
  t.regex(await told('/deep?filter=rights.deepLink.rank=5'), /more relations than the limit of 1 \(pathDepth\)/)
  t.is(await told('/deep/1/rights?select=deepLink.rank'), '[{"deepLink":{"rank":5}}]')
  t.is(
    await told('/two?select=rights(twoLink.rank)&filter=rights.twoLink.rank=5'),
    '[{"rights":[{"twoLink":{"rank":5}}]}]',
  )
})

test('links that are deleted softly connect nothing, and an element has the link that is there', async (t) => {
  const queries = [
    '/gone?select=rights(goneLink.rank)',
    '/gone/1/rights?select=goneLink.rank',
    '/gone?filter=rights.goneLink.rank=5&select=name',
  ]
  const answers = async (): Promise<string[]> => Promise.all(queries.map((query) => told(query)))
  t.deepEqual(await answers(), [
    '[{"rights":[{"goneLink":{"rank":5}}]}]',
    '[{"goneLink":{"rank":5}}]',
    '[{"name":"l"}]',
  ])
  await all.Gone?.Link.destroy({ where: { leftId: 1 } })
  t.deepEqual(await answers(), ['[{"rights":[]}]', '[]', '[]'])
})
