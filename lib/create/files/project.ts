import { hasBuiltinSqlite } from '../choices.js'
import { extensionOf, joinLines, type Plan } from './plan.js'

const DRIVERS = { sqlite: 'sqlite3', postgres: 'pg', mysql: 'mysql2', mariadb: 'mariadb' } as const

type Project = Omit<Plan, 'written'>

/** Finds the dependencies (`runs`) and development dependencies (`builds`) of an application. */
function findPackages(project: Project): { readonly runs: readonly string[]; readonly builds: readonly string[] } {
  const { language, database, login, agents, live, from, versions } = project
  const isTyped = language === 'typescript'
  const protocol = Object.keys(versions).filter((name) => name.startsWith('@modelcontextprotocol/'))
  const hasDriver = database !== 'sqlite' || !hasBuiltinSqlite()
  return {
    runs: [
      ...['express', 'sequelize', 'sequelize-crud-router'],
      ...(hasDriver ? [DRIVERS[database]] : []),
      // Sequelize requires `pg-hstore` in addition to the driver.
      ...(database === 'postgres' ? ['pg-hstore'] : []),
      ...(login ? ['jsonwebtoken'] : []),
      ...(agents ? protocol : []),
      ...(live ? ['socket.io'] : []),
    ],
    builds: [
      ...(live && from === null ? ['socket.io-client'] : []),
      ...(isTyped ? ['typescript', '@types/express', '@types/node'] : []),
      ...(isTyped && login ? ['@types/jsonwebtoken'] : []),
    ],
  }
}

function versionRanges(names: readonly string[], { versions }: Project): Readonly<Record<string, string>> {
  return Object.fromEntries(names.toSorted().map((name) => [name, versions[name] ?? '*']))
}

function writeScripts(project: Project): Readonly<Record<string, string>> {
  const { language, login, from } = project
  const isTyped = language === 'typescript'
  const at = isTyped ? 'dist/' : ''
  const token = login && from !== null
  return {
    ...(isTyped ? { build: 'tsc', prestart: 'tsc' } : {}),
    start: `node ${at}src/server.js`,
    dev: `node --watch src/server.${extensionOf(project)}`,
    ...(isTyped ? { pretest: 'tsc' } : {}),
    test: `node --test ${at}test/app.test.js`,
    ...(isTyped ? { precheck: 'tsc' } : {}),
    check: `sequelize-crud-router check ${at}src/app.js`,
    ...(token && isTyped ? { pretoken: 'tsc' } : {}),
    ...(token ? { token: `node ${at}src/login.js token` } : {}),
  }
}

export function writePackageJson(project: Project): string {
  const { runs, builds } = findPackages(project)
  const isBuiltin = project.database === 'sqlite' && hasBuiltinSqlite()
  const content = {
    name: project.name,
    version: '1.0.0',
    private: true,
    type: 'module',
    engines: { node: isBuiltin ? '^22.13.0 || >=24' : '^20.19.0 || ^22.13.0 || >=24' },
    scripts: writeScripts(project),
    dependencies: versionRanges(runs, project),
    ...(builds.length > 0 ? { devDependencies: versionRanges(builds, project) } : {}),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    rootDir: '.',
    outDir: 'dist',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    rewriteRelativeImportExtensions: true,
  },
  include: ['src', 'test'],
}

export function writeTsconfig(): string {
  return `${JSON.stringify(TSCONFIG, null, 2)}\n`
}

export function writeGitignore(): string {
  return joinLines('node_modules/', 'dist/', '.env', '*.sqlite', '*.sqlite-*')
}

const SERVERS = {
  postgres: {
    image: 'postgres:17',
    port: 5432,
    environment: ['POSTGRES_PASSWORD: development', 'POSTGRES_DB: app'],
    url: 'postgres://postgres:development@localhost:5432/app',
  },
  mysql: {
    image: 'mysql:8.4',
    port: 3306,
    environment: ['MYSQL_ROOT_PASSWORD: development', 'MYSQL_DATABASE: app'],
    url: 'mysql://root:development@localhost:3306/app',
  },
  mariadb: {
    image: 'mariadb:11',
    port: 3306,
    environment: ['MARIADB_ROOT_PASSWORD: development', 'MARIADB_DATABASE: app'],
    url: 'mariadb://root:development@localhost:3306/app',
  },
} as const

/** URL of the database that `compose.yaml` starts. */
export function defaultUrl(database: keyof typeof SERVERS): string {
  return SERVERS[database].url
}

export function writeCompose(database: keyof typeof SERVERS): string {
  const { image, port, environment } = SERVERS[database]
  return joinLines(
    '# A database for development: docker compose up -d',
    'services:',
    '  database:',
    `    image: ${image}`,
    '    environment:',
    ...environment.map((each) => `      ${each}`),
    `    ports: ['127.0.0.1:${port}:${port}']`,
  )
}
