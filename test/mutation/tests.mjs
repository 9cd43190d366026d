// Which files of tests meet which mutant, and whether any of them notices it.

import { fork } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestOf } from './instrument.mjs'

/** The variable of the environment that says which mutant is active from the beginning. */
const ACTIVE = '__STRYKER_ACTIVE_MUTANT__'

const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))

/** What is drawn at random elsewhere is the same in every run: a mutant is met again by who met it. */
const SEEDS = ['AGGREGATE', 'BODIES', 'DIFFERENTIAL', 'FUZZ', 'MEMBERS', 'REACT_ADMIN', 'SEARCH', 'STATEMENT', 'WALK']
const FIXED = Object.fromEntries(SEEDS.map((seed) => [`${seed}_SEED`, '20261122']))

/** Seconds of processor time beyond which a file of tests is not one to run for every mutant. */
const PATIENCE = 15

/** Seconds that a run may take, on a machine that does other things as well. */
const WAITING = 90

/** After so many runs, and what they leave behind, a process is replaced. */
const RUNS = 60

/** Left out: they repeat others on another Express, ask nothing of the server that others do not, or take minutes. */
const LEFT_OUT = [
  /^http\/(?:express4\/|documents\/|schemas\/(?:chinook|composite-keys|long-names|mysql-types|northwind|self-relations)\.)/,
  /^http\/(?:access\/oracle|bulk\/crash|clients\/(?:react-admin|refine)|keys\/indexes|nested\/crash|writes\/idempotency-proofs)\.js$/,
  /^http\/(?:filters\/(?:differential|large-numbers|search-differential)|lists\/(?:aggregates-differential|walks))\.js$/,
  /^http\/(?:dialects\/(?:values|long-texts|times)|outages\/(?:outages|write-time)|replies\/export-large|transactions\/handles)\.js$/,
  /^http\/(?:push\/(?:growth|growth-servers|servers|failures)|security\/fuzz)\.js$/,
]

/** Maps items with a few lanes at a time, in order; each lane has a process of its own. */
async function inLanes(items, lanes, make, work) {
  const waiting = [...items]
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      const lane = make()
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item, lane)
      await lane.stop()
    }),
  )
}

/** A process that runs files of tests, and is replaced when it hangs, dies or has run many. */
class Lane {
  #tests
  #environment
  #child = null
  #runs = 0

  /** With a mutant, that one is active while modules load already. */
  constructor(tests, mutant) {
    this.#tests = tests
    this.#environment = mutant === undefined ? {} : { [ACTIVE]: mutant }
  }

  async #started() {
    const { root, build, servers } = this.#tests
    const run = servers.newRun()
    const child = fork(worker, [root, build], {
      cwd: root,
      env: { ...process.env, ...FIXED, ...this.#environment, BUILD: build, TEST_DATABASE: 'sqlite', TEST_RUN: run },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    })
    child.testRun = run
    const { early } = await new Promise((resolve) => {
      child.once('message', resolve)
      child.once('exit', () => resolve({ early: null }))
    })
    if (early === null) return null
    for (const id of early) this.#tests.early.add(id)
    return child
  }

  async start() {
    this.#child ??= await this.#started()
  }

  /** Runs a file: `failure` is the title of what failed first, or null; `isHung` when it had to be stopped. */
  async run(file, active) {
    if (this.#runs >= RUNS) await this.stop()
    await this.start()
    if (this.#child === null) return { failure: 'it does not load' }
    this.#runs += 1
    const child = this.#child
    const answer = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ failure: 'it hung', isHung: true }), WAITING * 1000)
      const ended = () => resolve({ failure: 'the process ended', isHung: true })
      child.once('exit', ended)
      child.once('message', (message) => {
        clearTimeout(timer)
        child.off('exit', ended)
        resolve(message)
      })
      child.send({ file, active })
    })
    // What a mutant has left behind, no other is to meet.
    if (answer.isHung || /^(?:uncaught|unhandled)/.test(answer.failure ?? '')) await this.stop()
    return answer
  }

  async stop() {
    const child = this.#child
    this.#child = null
    this.#runs = 0
    if (child === null) return
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
    await this.#tests.servers.sweep('sqlite', child.testRun).catch(() => {})
  }
}

export class Tests {
  #state
  #sound = new Map()
  /** Of `known`, the files that take part. */
  #part = new Map()
  /** Mutants that are passed while modules load: in a process that stays, only what comes later can be told of them. */
  early = new Set()
  /** By path below `test`: `digest`, `seconds`, `failure`, and `met`, by subject its `digest` and the `ids` of mutants. */
  known

  /** `chosen` are texts of which the path of a file of tests has one. */
  constructor(root, build, servers, chosen) {
    this.root = root
    this.chosen = chosen
    this.build = build
    this.servers = servers
    this.#state = join(root, '.build-state', 'mutants.json')
    this.known = new Map(existsSync(this.#state) ? JSON.parse(readFileSync(this.#state, 'utf8')) : [])
  }

  #files() {
    return readdirSync(join(this.root, this.build, 'test'), { recursive: true })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => /^(?:http|unit)\/.*\.js$/.test(path) && !LEFT_OUT.some((pattern) => pattern.test(path)))
      .toSorted()
  }

  /** Runs every file of tests once whose acquaintance with these subjects is not known. */
  async meet(subjects, lanes) {
    const digests = new Map(
      this.#files().map((file) => [file, digestOf(readFileSync(join(this.root, '.build', 'test', file)))]),
    )
    for (const file of this.known.keys()) if (!digests.has(file)) this.known.delete(file)
    const isChosen = (file) => this.chosen.some((text) => file.includes(text))
    const isKnown = (file) => {
      const record = this.known.get(file)
      if (record?.digest !== digests.get(file)) return false
      return [...subjects].every(([subject, { digest }]) => {
        const met = record.met[subject]
        return met !== undefined && (met.ids.length === 0 || met.digest === digest)
      })
    }
    const unknown = [...digests.keys()].filter((file) => isChosen(file) && !isKnown(file))
    if (unknown.length > 0) console.log(`${unknown.length} files of tests run once, for what they meet`)
    await inLanes(
      unknown,
      lanes,
      () => new Lane(this),
      async (file, lane) => {
        const { failure, seconds = WAITING, met: ids = [] } = await lane.run(file, null)
        const passed = new Set(ids)
        const met = [...subjects].map(([subject, { digest, mutants }]) => [
          subject,
          { digest, ids: mutants.map(({ id }) => id).filter((id) => passed.has(id)) },
        ])
        this.known.set(file, {
          digest: digests.get(file),
          seconds,
          failure,
          met: { ...this.known.get(file)?.met, ...Object.fromEntries(met) },
        })
        mkdirSync(dirname(this.#state), { recursive: true })
        writeFileSync(this.#state, JSON.stringify([...this.known]))
      },
    )
    // What was met is kept of the others, for the next time.
    this.#part = new Map([...this.known].filter(([file]) => isChosen(file)))
    for (const [file, { failure, seconds }] of this.#part) {
      if (failure !== null) console.log(`  left out: ${file}, which fails without any mutant: ${failure}`)
      else if (seconds > PATIENCE) console.log(`  left out: ${file}, which takes ${Math.round(seconds)} seconds`)
    }
  }

  /**
   * The files that meet a mutant: first those that are likely to kill it soon (`kills` counts for each what it did), then those that meet most of its
   * subject, which run whatever they take, and then the others.
   */
  #meeting({ id, file }, kills) {
    const isEarly = this.early.has(id)
    const subject = file.split('/').at(-1).replace('.ts', '')
    const breadth = ([name, { met }]) => (name.includes(subject) ? 3 : 1) * met[file].ids.length
    const speed = (test) => (breadth(test) * (1 + (kills.get(test[0]) ?? 0))) / test[1].seconds
    const by = (weight) => (one, other) => weight(other) - weight(one)
    const meeting = [...this.#part]
      .filter(([, { failure, seconds }]) => failure === null && seconds <= PATIENCE)
      .filter(([, { met }]) => met[file]?.ids.includes(id) || (isEarly && met[file]?.ids.length > 0))
      .toSorted(by(speed))
    const due = new Set([...meeting.slice(0, 2), ...meeting.toSorted(by(breadth)).slice(0, 3)])
    return [...due, ...meeting.filter((test) => !due.has(test))].map(([name, { seconds }], at) => ({
      name,
      seconds: at < due.size ? 0 : seconds,
    }))
  }

  /** Runs each mutant until a file of tests fails, and tells of it. `kills` has a map for each subject. */
  async kill(mutants, lanes, budget, tell) {
    const kills = new Map(mutants.map(({ file }) => [file, new Map()]))
    const first = new Lane(this)
    await first.start()
    await first.stop()
    // Those that need a process of their own come last, when it is known who kills.
    const late = mutants.filter(({ id }) => this.early.has(id))
    await inLanes(
      [...mutants.filter(({ id }) => !this.early.has(id)), ...late],
      lanes,
      () => new Lane(this),
      async (mutant, lane) => {
        const own = kills.get(mutant.file)
        tell(mutant, await this.#killed(mutant, lane, own, budget))
      },
    )
  }

  async #killed(mutant, lane, kills, budget) {
    const meeting = this.#meeting(mutant, kills)
    if (meeting.length === 0) return { state: 'never met' }
    if (!this.early.has(mutant.id)) return this.#noticed(mutant, lane, lane, meeting, kills, budget)
    const own = new Lane(this, mutant.id)
    try {
      return await this.#noticed(mutant, own, lane, meeting, kills, budget)
    } finally {
      await own.stop()
    }
  }

  /** Whether a file still passes without any mutant, asked once: else it would kill them all. */
  #isSound(name, lane) {
    const asked = this.#sound.get(name) ?? lane.run(name, null).then(({ failure }) => failure === null)
    this.#sound.set(name, asked)
    return asked
  }

  async #noticed(mutant, lane, free, meeting, kills, budget) {
    let spent = 0
    let ran = 0
    for (const { name, seconds } of meeting) {
      if (spent + seconds > budget) break
      if (!(await this.#isSound(name, free))) continue
      spent += seconds
      ran += 1
      const { failure, isHung } = await lane.run(name, mutant.id)
      if (failure === null) continue
      kills.set(name, (kills.get(name) ?? 0) + 1)
      return { state: isHung ? 'timed out' : 'killed', by: `${name}: ${failure}` }
    }
    return { state: 'survived', ran, of: meeting.length }
  }
}
