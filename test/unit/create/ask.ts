// Questions of `npm create`, answered as somebody at a terminal answers them.

import { join, resolve } from 'node:path'
import test from 'ava'
import { readArguments } from '../../../lib/create/arguments.js'
import { type Ask, answerDefaults, choose, packageName } from '../../../lib/create/ask.js'
import { type Choices, parseSource, WrongArgument } from '../../../lib/create/choices.js'

function answering(answers: readonly string[]): { readonly ask: Ask; readonly asked: string[] } {
  const left = [...answers]
  const asked: string[] = []
  const ask: Ask = async (question, initial) => {
    asked.push(question)
    return left.shift() || initial
  }
  return { ask, asked }
}

const DEFAULTS: Choices = {
  folder: resolve('my-api'),
  name: 'my-api',
  language: 'typescript',
  database: 'sqlite',
  login: false,
  docs: true,
  agents: false,
  live: false,
  from: null,
}

test('every choice has a default', async (t) => {
  t.deepEqual(await choose(readArguments([]), answerDefaults), DEFAULTS)
})

test('answers choose, by their beginning as well, and what is no answer is asked again', async (t) => {
  const { ask, asked } = answering(['shop', 'ruby', 'j', 'postgres', 'perhaps', 'y', 'NO', '', 'yes'])
  const chosen = await choose(readArguments([]), ask)
  t.like(chosen, { folder: resolve('shop'), name: 'shop', language: 'javascript', database: 'postgres' })
  t.like(chosen, { login: true, docs: false, agents: false, live: true })
  t.is(asked.length, 9)
})

test('what was said is not asked, and --from says which database it is', async (t) => {
  const { ask, asked } = answering([])
  const said = ['a', '--javascript', '--from', 'postgresql://b/c', '--login', '--no-docs', '--no-live', '--agents']
  const chosen = await choose(readArguments(said), ask)
  t.like(chosen, { language: 'javascript', database: 'postgres', login: true, docs: false, live: false, agents: true })
  t.deepEqual(asked, [])
})

test('the package has a name that npm takes', (t) => {
  t.is(packageName(join('x', 'My API!')), 'my-api')
  t.is(packageName('.hidden'), 'hidden')
  t.is(packageName('日本'), 'my-api')
})

test('an address that is not valid is refused without its password, and a path is a file of SQLite', (t) => {
  for (const address of ['postgres://ana:se/cret@h/x', 'mysql://ana:se#cret@h/x', 'mssql://ana:se/cret@h/x']) {
    const error = t.throws(() => parseSource(address), { instanceOf: WrongArgument }, address)
    t.notRegex(error?.message ?? '', /cret/)
  }
  const valid = parseSource('postgres://ana:se%2Fcret@h/x')
  t.deepEqual(valid, { database: 'postgres', address: 'postgres://ana:se%2Fcret@h/x' })
  for (const path of ['music.sqlite', './data/music.db', 'C:\\data\\music.db', '/data/a:b.sqlite'])
    t.deepEqual(parseSource(path), { database: 'sqlite', address: path })
  t.deepEqual(parseSource('sqlite:music.sqlite'), { database: 'sqlite', address: 'music.sqlite' })
  t.deepEqual(parseSource('sqlite://music.sqlite'), { database: 'sqlite', address: 'music.sqlite' })
})
