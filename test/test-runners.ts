// What npm would publish, under the test runners of the projects that it is meant for, as they come: Jest, which knows
// CommonJS only, with ts-jest beside it, Mocha and Vitest. Each runs the project's own test of its own routers.

import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { consumer, dependencies, node, pack, root, type Tarball } from './support/consumer.js'
import { consumerTest, IMPORTS, REQUIRES } from './support/consumerTest.js'
import { hasSqlite3 } from './support/sqlite3.js'

const JEST = { rootDir: '.', testEnvironment: 'node', testTimeout: 60_000, cacheDirectory: '.cache', watchman: false }

const TYPESCRIPT = {
  compilerOptions: {
    target: 'es2022',
    module: 'commonjs',
    moduleResolution: 'node10',
    strict: true,
    types: ['jest', 'node'],
  },
}

// Jest's own `process` does not give modules of Node, such as that of SQLite.
const withJest = hasSqlite3 ? test : test.skip
if (!hasSqlite3)
  console.warn('THE TEST WITH JEST IS LEFT OUT: `npm run sqlite3` fetches or compiles the driver it needs.')

let tarball: Tarball

test.before(async () => {
  tarball = await pack()
})

test.after.always(() => tarball?.remove())

/** A project with a runner, which is installed here as well. */
async function project(
  name: string,
  links: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const names = [...(await dependencies()), 'express', 'sequelize', 'sqlite3']
  return consumer(tarball, name, { ...Object.fromEntries(names.map((name) => [name, name])), ...links }, files)
}

/** Holds that a runner was content, and says so of as many tests. */
async function passes(t: ExecutionContext, folder: string, args: readonly string[], summary: RegExp): Promise<void> {
  t.timeout(180_000)
  const { status, stdout, stderr } = await node(folder, ...args)
  const said = stripVTControlCharacters(stdout + stderr)
  t.is(status, 0, said)
  t.regex(said, summary)
}

function program(...path: readonly string[]): string {
  return join(root, 'node_modules', ...path)
}

withJest('a project with Jest, which requires, mounts routers and tests them', async (t) => {
  const folder = await project(
    'jest',
    {},
    {
      'package.json': JSON.stringify({ private: true, jest: JEST }),
      'players.test.js': REQUIRES + consumerTest('jest.sqlite'),
    },
  )
  await passes(t, folder, [program('jest/bin/jest.js')], /^Tests: +2 passed, 2 total$/m)
})

withJest('a project in TypeScript with ts-jest mounts routers and tests them', async (t) => {
  const types = { '@types/express': '@types/express', '@types/jest': '@types/jest', '@types/node': '@types/node' }
  const {
    dependencies,
    peerDependencies,
  }: Record<string, Record<string, string>> = JSON.parse(await readFile(program('ts-jest/package.json'), 'utf8'))
  const needs = Object.fromEntries(Object.keys({ ...dependencies, ...peerDependencies }).map((name) => [name, name]))
  const folder = await project(
    'ts-jest',
    { ...types, ...needs, typescript: 'typescript5' },
    {
      'package.json': JSON.stringify({ private: true, jest: { ...JEST, preset: 'ts-jest' } }),
      'tsconfig.json': JSON.stringify({
        compilerOptions: { ...TYPESCRIPT.compilerOptions, esModuleInterop: true, skipLibCheck: true },
      }),
      'players.test.ts': IMPORTS + consumerTest('ts-jest.sqlite'),
    },
  )
  // It asks for `typescript` from where it stands, and in this repository that is one that it cannot work with.
  await cp(program('ts-jest'), join(folder, 'node_modules/ts-jest'), { recursive: true })
  await passes(t, folder, [program('jest/bin/jest.js')], /^Tests: +2 passed, 2 total$/m)
})

test('a project with Mocha mounts routers in CommonJS and in ES modules of one process and tests them', async (t) => {
  const folder = await project(
    'mocha',
    { mocha: 'mocha' },
    {
      'package.json': JSON.stringify({ private: true }),
      'test/commonjs.cjs': `const { it: test } = require('mocha')\n${REQUIRES}${consumerTest('commonjs.sqlite')}`,
      'test/module.mjs': `import { it as test } from 'mocha'\n${IMPORTS}${consumerTest('module.sqlite')}`,
    },
  )
  await passes(t, folder, [program('mocha/bin/mocha.js'), '--timeout', '60000', 'test/*.{cjs,mjs}'], /^ +4 passing/m)
})

test('a project with Vitest mounts routers and tests them', async (t) => {
  const folder = await project(
    'vitest',
    { vitest: 'vitest' },
    {
      'package.json': JSON.stringify({ private: true, type: 'module' }),
      'players.test.ts': `import { test } from 'vitest'\n${IMPORTS}${consumerTest('vitest.sqlite')}`,
    },
  )
  await passes(t, folder, [program('vitest/vitest.mjs'), 'run', '--testTimeout', '60000'], /Tests +2 passed \(2\)/)
})
