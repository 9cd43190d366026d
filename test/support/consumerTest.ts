// The text of a test for projects that use the package. The test has models with an association in SQLite and Express
// routers. The test's HTTP requests write, validate, use a token, cross a relation and are rejected. The text is valid
// JavaScript and TypeScript, for the test runners of different projects.

const REQUESTS: readonly (readonly [method: string, path: string, body?: string])[] = [
  ['POST', 'teams', '{"name":"Lakers"}'],
  ['POST', 'players', '{"name":"Jan","level":42,"teamId":1}'],
  ['POST', 'players', '{"level":333}'],
  ['PATCH', 'players/1', '{"level":43}'],
  ['POST', 'players/bulk', '[{"name":"Ana","level":50,"teamId":1},{"name":"Ewa","level":60}]'],
  ['GET', 'players?filter=Team.Name^La,Level>42&select=Name,Team.Name&sort=Name'],
  ['GET', 'players?filter=Level>>1'],
  ['DELETE', 'players/1'],
  ['GET', 'players?count=true'],
]

const PROBLEM = '"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1"'
const FAULT = 'Expected a value at position 6, but found \\">\\". Write `\\\\>` where a value begins with \\">\\".'
const PAGE = '"totalCount":2,"page":1,"pageSize":20,"totalPages":1,"hasNextPage":false,"hasPreviousPage":false'

const ANSWERS: readonly string[] = [
  '201 {"id":1,"name":"Lakers"}',
  '201 {"id":1,"name":"Jan","level":42,"teamId":1}',
  `400 {${PROBLEM},"title":"One or more validation errors occurred.","status":400,"code":"validation","errors":{"name":["is required."],"level":["must be between 1 and 100."]}}`,
  '200 {"id":1,"name":"Jan","level":43,"teamId":1}',
  '201 [{"id":2,"name":"Ana","level":50,"teamId":1},{"id":3,"name":"Ewa","level":60,"teamId":null}]',
  `200 {"items":[{"name":"Ana","team":{"name":"Lakers"}},{"name":"Jan","team":{"name":"Lakers"}}],${PAGE}}`,
  `400 {${PROBLEM},"title":"Malformed filter.","detail":"${FAULT}\\nLevel>>1\\n      ^","status":400,"code":"malformed-filter","errors":{"filter":["${FAULT}"]}}`,
  '204 ',
  '200 {"count":2}',
]

const NAMES = {
  express: 'express',
  sequelize: '{ DataTypes, Sequelize }',
  'node:assert/strict': 'assert',
  'node:crypto': '{ createHmac }',
  'sequelize-crud-router': '{ authenticated, crudRouter, jwtIdentity, Operations, QuerySyntaxError }',
  'sequelize-crud-router/language': '{ parseFilter }',
}

/** Import statements for an ES module, and for TypeScript that compiles to ES modules or CommonJS. */
export const IMPORTS: string = Object.entries(NAMES)
  .map(([from, names]) => `import ${names} from '${from}'\n`)
  .join('')

/** `require` statements for CommonJS. */
export const REQUIRES: string = Object.entries(NAMES)
  .map(([from, names]) => `const ${names} = require('${from}')\n`)
  .join('')

/** Writes the test, which calls the runner's `test` function. `storage` is the database file. */
export function consumerTest(storage: string): string {
  return `
test('the routers answer', async () => {
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: '${storage}', logging: false })
  const options = { timestamps: false }
  const Team = sequelize.define('Team', { name: { type: DataTypes.STRING(50), allowNull: false } }, options)
  const level = { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } }
  const Player = sequelize.define('Player', { name: { type: DataTypes.STRING(50), allowNull: false }, level }, options)
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  await sequelize.sync({ force: true })

  const app = express()
  const identity = jwtIdentity({ key: 'a secret of tests, long enough for HS256', algorithms: ['HS256'] })
  app.use(crudRouter(Team))
  app.use(crudRouter(Player, { operations: Operations.AllWithBulk, identity, deletePolicy: authenticated }))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0

  const claims = ['{"alg":"HS256"}', '{"sub":"jan"}'].map((part) => Buffer.from(part).toString('base64url')).join('.')
  const token = claims + '.' + createHmac('sha256', 'a secret of tests, long enough for HS256').update(claims).digest('base64url')
  const headers = { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' }
  const told = []
  try {
    for (const [method, path, body] of ${JSON.stringify(REQUESTS)}) {
      const answer = await fetch('http://127.0.0.1:' + port + '/api/' + path, { method, headers, body })
      told.push(answer.status + ' ' + (await answer.text()))
    }
  } finally {
    server.close()
    server.closeAllConnections()
    await sequelize.close()
  }
  assert.deepEqual(told, ${JSON.stringify(ANSWERS)})
})

test('the language is the one that the routers know', () => {
  assert.throws(() => parseFilter('Level>>1'), QuerySyntaxError)
})
`
}
