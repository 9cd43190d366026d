import { toMarkdown } from '../text.js'
import { joinLines, type Plan } from './plan.js'

export function writeReadme(plan: Plan): string {
  const { name, from, database, login, docs, agents, live, written } = plan
  const first = written.models[0]?.path ?? ''
  const hasServer = from === null && database !== 'sqlite'
  const token = login ? ` -H "Authorization: Bearer $TOKEN"` : ''
  return joinLines(
    `# ${toMarkdown(name)}`,
    '',
    'A JSON REST API by [sequelize-crud-router](https://www.npmjs.com/package/sequelize-crud-router).',
    '',
    '```sh',
    'npm install',
    hasServer && 'docker compose up -d',
    'npm start',
    'npm test',
    'npm run check # lists the routes, and which are open to everybody',
    '```',
    '',
    ...(login ? writeTokens(from === null) : []),
    '```sh',
    from === null &&
      `curl -X POST 'localhost:3000/api/tasks' -H 'Content-Type: application/json'${token} -d '{"title":"Buy milk"}'`,
    `curl -g 'localhost:3000${first}${from === null ? '?filter=Title=*milk' : '?pageSize=5'}'${token}`,
    '```',
    '',
    '| Where | What |',
    '|---|---|',
    '| `src/models` | the tables |',
    '| `src/app` | the routers and their options |',
    login && '| `src/login` | accounts and tokens |',
    docs && '| `/docs` | the documentation of the API |',
    agents && '| `/mcp` | read-only tools for agents |',
    live && `| \`${first}/hub\` | changes, for clients of Socket.IO |`,
    from !== null && '| `.env` | the address of the database. Do not commit this file |',
    ...(written.notes.length === 0
      ? []
      : ['', '## Left out', '', ...written.notes.map((note) => `- ${toMarkdown(note)}`)]),
  )
}

function writeTokens(hasAccounts: boolean): readonly string[] {
  return hasAccounts
    ? [
        'The first start prints the password of the account `admin`. Get a token with it. A token is valid for an hour, and across restarts only if `JWT_SECRET` is set:',
        '',
        '```sh',
        `curl -X POST 'localhost:3000/login' -H 'Content-Type: application/json' -d '{"name":"admin","password":"..."}'`,
        'export TOKEN=...',
        '```',
        '',
      ]
    : [
        '`JWT_SECRET` in `.env` signs tokens:',
        '',
        '```sh',
        'export TOKEN=$(npm run --silent token -- admin)',
        '```',
        '',
      ]
}
