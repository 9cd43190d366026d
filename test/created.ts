// Applications that `npm create sequelize-crud-router` writes: in combinations of language, login and live changes, one compiles, passes
// its own test, is checked, starts, answers and ends. They share the packages, which would otherwise be installed each time.

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { node, pack, root } from './support/consumer.js'
import { type Applications, openApplications } from './support/created/application.js'
import { start } from './support/program.js'

let applications: Applications

test.before(async () => {
  applications = await openApplications()
})

test.after.always(() => applications?.remove())

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

/** The argument of a script's program: what follows `node` in package.json. */
function argumentsOf(script: string | undefined): readonly string[] {
  const [program, ...args] = script?.split(' ') ?? []
  if (program !== 'node') throw new Error(`${script} is no program of Node`)
  return args
}

/** The driver that is installed for SQLite: none where Node has SQLite itself. */
const SQLITE = process.getBuiltinModule?.('node:sqlite') === undefined ? ['sqlite3'] : []

const FLAGS = [true, false] as const
// Both languages have the same programs but for types. Tests below have JavaScript without live changes.
const COMBINATIONS = [
  ...FLAGS.flatMap((login) => FLAGS.map((live) => ({ language: 'typescript', login, live }))),
  ...FLAGS.map((login) => ({ language: 'javascript', login, live: true })),
]

for (const { language, login, live } of COMBINATIONS) {
  const name = [language, ...(login ? ['login'] : []), ...(live ? ['live'] : [])].join('-')
  // What depends on neither is there in one half of them.
  const others = login === live ? ['--docs', '--agents'] : ['--no-docs', '--no-agents']
  const options = [`--${language}`, ...others, ...(login ? ['--login'] : []), ...(live ? ['--live'] : [])]

  test.serial(`an application with ${options.join(' ')} compiles, passes its test, starts and ends`, async (t) => {
    t.timeout(120_000)
    const { status, stdout, stderr } = await applications.create(name, ...options)
    t.is(status, 0, stderr)
    const next = "curl 'localhost:3000/api/tasks'"
    const last = login
      ? `Then get a token, as README.md describes, and send it: ${next} -H "Authorization: Bearer $TOKEN"\n`
      : `Then: ${next}\n`
    t.true(stdout.endsWith(`\n\n${last}`), stdout)
    const folder = join(applications.folder, name)
    t.true((await filesIn(folder)).length <= 10)
    const { scripts } = await manifestOf(folder)
    if (language === 'typescript') {
      const tsc = join(applications.folder, 'node_modules/typescript/bin/tsc')
      t.deepEqual(await node(folder, tsc), { status: 0, stdout: '', stderr: '' })
    }

    const tested = await node(folder, ...argumentsOf(scripts.test))
    t.is(tested.status, 0, tested.stdout + tested.stderr)

    const check = scripts.check?.split(' ').slice(1) ?? []
    const router = join(applications.folder, 'node_modules/sequelize-crud-router/dist/check.js')
    const checked = await node(folder, router, ...check, '--fail-on-open')
    t.is(checked.status, login ? 0 : 1, checked.stderr)
    t.regex(checked.stdout, login ? /12 routes, 0 without a policy\./ : /12 routes, 12 without a policy\./)

    const program = start(argumentsOf(scripts.start), { cwd: folder, env: { PORT: '0' } })
    t.teardown(() => program.stop('SIGKILL'))
    const [address = ''] = await program.waitForOutput(/http:\/\/localhost:\d+\/api\/tasks/)
    t.is((await fetch(address)).status, login ? 401 : 200)
    t.is(await program.stop(), 0, program.output())
  })
}

test.serial('the account of the first start gets a token by the password that was printed', async (t) => {
  t.timeout(60_000)
  await applications.create('accounts', '--javascript', '--login')
  const folder = join(applications.folder, 'accounts')
  const program = start(['src/server.js'], { cwd: folder, env: { PORT: '0' } })
  t.teardown(() => program.stop())
  const [, password = ''] = await program.waitForOutput(/the password is (\S+)\n/)
  const [, port] = await program.waitForOutput(/localhost:(\d+)/)
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ name: 'admin', password })
  const response = await fetch(`http://localhost:${port}/login`, { method: 'POST', headers, body })
  t.is(response.status, 200)
  const { token } = Object(await response.json())
  const authorized = { headers: { Authorization: `Bearer ${token}` } }
  t.is((await fetch(`http://localhost:${port}/api/tasks`, authorized)).status, 200)
})

test.serial('packages are those that the choices need, and none of them is compiled for SQLite', async (t) => {
  for (const [name, options, needed] of [
    ['few', ['--javascript', '--no-docs'], ['express', 'sequelize', 'sequelize-crud-router', ...SQLITE]],
    [
      'pg',
      ['--javascript', '--database', 'postgres'],
      ['express', 'pg', 'pg-hstore', 'sequelize', 'sequelize-crud-router'],
    ],
    ['my', ['--javascript', '--database', 'mysql'], ['express', 'mysql2', 'sequelize', 'sequelize-crud-router']],
    ['maria', ['--javascript', '--database', 'mariadb'], ['express', 'mariadb', 'sequelize', 'sequelize-crud-router']],
  ] as const) {
    t.is((await applications.create(name, ...options)).status, 0)
    const { dependencies, devDependencies = {} } = await manifestOf(join(applications.folder, name))
    t.deepEqual(Object.keys(dependencies), [...needed])
    t.deepEqual(Object.keys(devDependencies), [])
    t.false(Object.values(dependencies).includes('*'))
  }
})

test.serial('a tarball takes the place of the published package', async (t) => {
  t.is((await applications.create('packed', '--package', './router.tgz')).status, 0)
  const { dependencies } = await manifestOf(join(applications.folder, 'packed'))
  t.is(dependencies['sequelize-crud-router'], `file:${join(applications.folder, 'router.tgz')}`)
})

test.serial('wrong arguments are refused before anything is written', async (t) => {
  await applications.create('taken')
  for (const [name, options, message] of [
    ['taken', [], /taken is not empty\./],
    ['new', ['--typescrip'], /Unknown option '--typescrip'/],
    ['new', ['--typescript', '--javascript'], /Choose one of --typescript and --javascript\./],
    ['new', ['--database', 'oracle'], /--database must be one of sqlite, postgres, mysql, mariadb, not "oracle"\./],
    ['new', ['--from', 'mongodb://localhost/x'], /--from must be postgres:/],
    ['new', ['--from', 'postgres://ana:se/cret@localhost/x'], /^--from is not a valid address\. [^/]*"\/" is %2F\.\n$/],
    ['new', ['--from', 'missing.sqlite'], /The file .*missing\.sqlite does not exist\./],
    ['new', ['--from', 'postgres://nobody@127.0.0.1:1/x'], /The database cannot be read\./],
    ['new', ['--from', 'a.sqlite', '--database', 'mysql'], /Leave out --database: --from already determines it/],
    ['new', ['another'], /Name one folder/],
  ] as const) {
    const { status, stderr } = await applications.create(name, ...options)
    t.is(status, 2, `${options.join(' ')}: ${stderr}`)
    t.regex(stderr, message)
  }
  await t.throwsAsync(stat(join(applications.folder, 'new')), { code: 'ENOENT' })
})

test.serial('the address of a database is in a file for its owner alone, and not in the repository', async (t) => {
  if (process.platform === 'win32') return t.pass('Windows has no such modes')
  const { DatabaseSync } = Object(process.getBuiltinModule?.('node:sqlite'))
  if (DatabaseSync === undefined) return t.pass('this Node has no node:sqlite')
  const file = join(applications.folder, `it's "the" file.sqlite`)
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT)')
  database.close()
  const { status, stderr } = await applications.create('secret', '--javascript', '--login', '--from', file)
  t.is(status, 0, stderr)
  const folder = join(applications.folder, 'secret')
  const environment = await readFile(join(folder, '.env'), 'utf8')
  t.true(environment.includes(file))
  t.regex(environment, /^JWT_SECRET='[\w-]{43}'$/m)
  t.is((await stat(join(folder, '.env'))).mode & 0o777, 0o600)
  t.regex(await readFile(join(folder, '.gitignore'), 'utf8'), /^\.env$/m)
  const tested = await node(folder, '--test', 'test/app.test.js')
  t.is(tested.status, 0, tested.stdout + tested.stderr)
  const { stdout: token } = await node(folder, 'src/login.js', 'token', 'ana')
  t.regex(token, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
})

test('the package that creates is small and has no dependency', async (t) => {
  const tarball = await pack(join(root, '.packages/create'))
  t.teardown(() => tarball.remove())
  const expected = ['LICENSE', 'README.md', 'create.js', 'index.js', 'package.json', 'versions.json']
  t.deepEqual(tarball.paths.toSorted(), expected)
  t.true(tarball.bytes <= 40_000, `${tarball.bytes} bytes`)
  const manifest = JSON.parse(await readFile(join(root, '.packages/create/package.json'), 'utf8'))
  t.is(manifest.dependencies, undefined)
})
