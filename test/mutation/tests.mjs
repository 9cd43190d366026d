// Runs files of tests on the build with mutants, and knows which of them meet which mutant and how long they take.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { ACTIVE, digestOf, MET } from './instrument.mjs'

const cli = fileURLToPath(new URL('cli.mjs', import.meta.resolve('ava')))

/** What is drawn at random elsewhere is the same in every run: a mutant is met again by who met it. */
const SEEDS = ['AGGREGATE', 'BODIES', 'DIFFERENTIAL', 'FUZZ', 'MEMBERS', 'REACT_ADMIN', 'SEARCH', 'STATEMENT', 'WALK']

/** Seconds beyond which a file of tests is not one to run for every mutant. */
const PATIENCE = 30

/** Left out: they repeat others on another Express, or ask nothing of the server that others do not. */
const LEFT_OUT = /^http\/(?:express4|documents)\/|^http\/(?:react-admin|refine)\.js$/

/** Maps items with a few lanes at a time, in order. */
export async function inLanes(items, lanes, work) {
  const waiting = [...items]
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

export class Tests {
  #root
  #build
  #state
  #servers
  /** By path below `test`: `digest`, `seconds`, `isFine`, and `met`, by subject its `digest` and the `ids` of mutants. */
  known

  constructor(root, build, servers) {
    this.#root = root
    this.#build = build
    this.#servers = servers
    this.#state = join(root, '.build-state', 'mutants.json')
    this.known = new Map(existsSync(this.#state) ? JSON.parse(readFileSync(this.#state, 'utf8')) : [])
  }

  #files() {
    const folder = join(this.#root, this.#build, 'test')
    return readdirSync(folder, { recursive: true })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => /^(?:http|unit)\/.*\.js$/.test(path) && !LEFT_OUT.test(path))
      .toSorted()
  }

  /** One AVA over some files: whether all passed, what failed first, and whether it had to be stopped. */
  async run(files, environment, seconds) {
    const run = this.#servers.newRun()
    const seeds = Object.fromEntries(SEEDS.map((seed) => [`${seed}_SEED`, '20261122']))
    const started = performance.now()
    const paths = files.map((file) => `${this.#build}/test/${file}`)
    const ava = spawn(process.execPath, [cli, '--fail-fast', '--concurrency', '1', '--timeout', '1m', ...paths], {
      cwd: this.#root,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...seeds, ...environment, BUILD: this.#build, TEST_DATABASE: 'sqlite', TEST_RUN: run },
    })
    let output = ''
    for (const stream of [ava.stdout, ava.stderr]) stream.on('data', (chunk) => (output += chunk))
    let isStopped = false
    const timer = setTimeout(() => {
      isStopped = true
      process.kill(-ava.pid, 'SIGKILL')
    }, seconds * 1000)
    const code = await new Promise((resolve) => ava.on('close', resolve))
    clearTimeout(timer)
    await this.#servers.sweep('sqlite', run).catch(() => {})
    const failure = /[✘×] \[fail\]: (.*)/.exec(stripVTControlCharacters(output))?.[1] ?? null
    return { isFine: code === 0, isStopped, failure, output, seconds: (performance.now() - started) / 1000 }
  }

  /** Runs every file of tests once whose acquaintance with these subjects is not known. */
  async meet(subjects, lanes) {
    const digests = new Map(
      this.#files().map((file) => [file, digestOf(readFileSync(join(this.#root, '.build', 'test', file)))]),
    )
    for (const file of this.known.keys()) if (!digests.has(file)) this.known.delete(file)
    const isKnown = (file) => {
      const record = this.known.get(file)
      if (record?.digest !== digests.get(file)) return false
      return [...subjects].every(([subject, { digest }]) => {
        const met = record.met[subject]
        return met !== undefined && (met.ids.length === 0 || met.digest === digest)
      })
    }
    const unknown = [...digests.keys()].filter((file) => !isKnown(file))
    if (unknown.length > 0) console.log(`${unknown.length} files of tests run once, for what they meet`)
    await inLanes(unknown, lanes, async (file) => {
      this.known.set(file, { digest: digests.get(file), ...(await this.#met(file, subjects)) })
      mkdirSync(dirname(this.#state), { recursive: true })
      writeFileSync(this.#state, JSON.stringify([...this.known]))
    })
    for (const [file, { isFine, seconds }] of this.known) {
      if (!isFine) console.log(`  left out: ${file} (${seconds >= PATIENCE ? 'slow' : 'fails without any mutant'})`)
    }
  }

  async #met(file, subjects) {
    const list = join(tmpdir(), `mutants-${process.pid}-${digestOf(file)}`)
    const { isFine, seconds } = await this.run([file], { [MET]: list }, PATIENCE)
    const ids = existsSync(list) ? new Set(readFileSync(list, 'utf8').split('\n')) : new Set()
    rmSync(list, { force: true })
    const met = [...subjects].map(([subject, { digest, mutants }]) => [
      subject,
      { digest, ids: mutants.map(({ id }) => id).filter((id) => ids.has(id)) },
    ])
    return { isFine, seconds, met: Object.fromEntries(met) }
  }

  /** The files that meet a mutant, those first that are likely to kill it soon: `kills` counts for each what it did. */
  meeting({ id, file }, kills) {
    const weight = ([name, { seconds, met }]) => {
      const isAbout = name.includes(file.split('/').at(-1).replace('.ts', '')) ? 3 : 1
      return (isAbout * met[file].ids.length * (1 + (kills.get(name) ?? 0))) / seconds
    }
    return [...this.known]
      .filter(([, { isFine, met }]) => isFine && met[file]?.ids.includes(id))
      .toSorted((one, other) => weight(other) - weight(one))
      .map(([name, { seconds }]) => ({ name, seconds }))
  }

  /** Runs one mutant until a file of tests fails: the first ones alone, the others together. */
  async kill(mutant, kills, budget) {
    const meeting = this.meeting(mutant, kills)
    if (meeting.length === 0) return { state: 'never met' }
    const batches = [[], [], []]
    let spent = 0
    let left = 0
    for (const [at, test] of meeting.entries()) {
      if (at > 0 && spent + test.seconds > budget) left += 1
      else {
        batches[at === 0 ? 0 : at < 4 ? 1 : 2].push(test)
        spent += test.seconds
      }
    }
    for (const batch of batches.filter(({ length }) => length > 0)) {
      const usual = batch.reduce((sum, { seconds }) => sum + seconds, 0)
      const names = batch.map(({ name }) => name)
      const { isFine, isStopped, failure } = await this.run(names, { [ACTIVE]: mutant.id }, usual * 4 + 20)
      if (isFine) continue
      const isBy = (name) => failure?.includes(`${name.split('/').at(-1).replace('.js', '')} › `)
      const by = names.length === 1 ? names[0] : names.find(isBy)
      if (by !== undefined) kills.set(by, (kills.get(by) ?? 0) + 1)
      return { state: isStopped ? 'timed out' : 'killed', by: `${by ?? names.join(' ')}: ${failure ?? 'ended'}` }
    }
    return { state: 'survived', ran: meeting.length - left, of: meeting.length }
  }
}
