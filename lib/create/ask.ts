import { basename, resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import type { CreateArguments } from './arguments.js'
import { type Choices, LANGUAGES, parseSource } from './choices.js'
import { DATABASES } from './schema.js'

/** Asks the user a question. An empty answer selects the default. */
export type Ask = (question: string, initial: string) => Promise<string>

/** Makes all choices. A choice comes from the arguments, otherwise from an answer. */
export async function choose(given: CreateArguments, ask: Ask): Promise<Choices> {
  const folder = given.folder ?? (await ask('Folder', 'my-api'))
  const language = given.language ?? (await askChoice(ask, 'Language', LANGUAGES))
  const database = await chooseDatabase(given, ask)
  return {
    folder: resolve(folder),
    name: packageName(folder),
    language,
    database,
    login: given.login ?? (await askFlag(ask, 'A login, by tokens (JWT)', false)),
    docs: given.docs ?? (await askFlag(ask, 'Documentation of the API at /docs', true)),
    agents: given.agents ?? (await askFlag(ask, 'Tools for agents at /mcp', false)),
    live: given.live ?? (await askFlag(ask, 'Live changes by Socket.IO', false)),
    from: given.from ?? null,
  }
}

async function chooseDatabase({ from, database }: CreateArguments, ask: Ask): Promise<Choices['database']> {
  if (from !== undefined) return parseSource(from).database
  return database ?? (await askChoice(ask, 'Database', DATABASES))
}

/** Asks until the answer is valid. */
async function askChoice<T extends string>(ask: Ask, question: string, all: readonly [T, ...T[]]): Promise<T> {
  for (;;) {
    const answer = (await ask(`${question} (${all.join(', ')})`, all[0])).toLowerCase()
    const found = all.find((each) => each === answer) ?? all.find((each) => answer !== '' && each.startsWith(answer))
    if (found !== undefined) return found
  }
}

async function askFlag(ask: Ask, question: string, initial: boolean): Promise<boolean> {
  for (;;) {
    const answer = (await ask(`${question} (yes, no)`, initial ? 'yes' : 'no')).toLowerCase()
    if (/^y(?:es)?$/.test(answer)) return true
    if (/^no?$/.test(answer)) return false
  }
}

/** Answers each question with its default, if the program runs without a terminal. */
export const answerDefaults: Ask = async (_question, initial) => initial

export interface Terminal {
  readonly ask: Ask
  readonly close: () => void
}

export function openTerminal(): Terminal {
  const terminal: Interface = createInterface({ input: process.stdin, output: process.stdout })
  return {
    ask: async (question, initial) => (await terminal.question(`${question} [${initial}]: `)).trim() || initial,
    close: () => terminal.close(),
  }
}

/** Derives a valid npm package name from the folder. */
export function packageName(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z\d._-]+/g, '-')
    .replace(/^[^a-z\d]+|-+$/g, '')
  return name === '' ? 'my-api' : name.slice(0, 200)
}
