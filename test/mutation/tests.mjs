// Finds the test files that execute a mutant, and runs them until one of them fails.

import { fork } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestOf } from './instrument.mjs'

/** Environment variable with the mutant that is active from the start of a process. */
const ACTIVE = '__STRYKER_ACTIVE_MUTANT__'

const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))

/** Seeds are fixed, so that a test file executes equal mutants in every run. */
const SEEDS = ['AGGREGATE', 'BODIES', 'DIFFERENTIAL', 'FUZZ', 'MEMBERS', 'REACT_ADMIN', 'SEARCH', 'STATEMENT', 'WALK']
const FIXED = Object.fromEntries(SEEDS.map((seed) => [`${seed}_SEED`, '20261122']))

/** Maximum seconds of processor time of a test file. Slower test files are not run for mutants. */
const PATIENCE = 15

/** Maximum seconds of a run. The machine may be busy with other work. */
const WAITING = 90

/** Number of runs after which a process is replaced, because test files leave state behind. */
const RUNS = 60

/**
 * Test files that are not run: they repeat other tests on Express 4, execute no further code of the server, or take
 * minutes.
 */
const LEFT_OUT = [
  /^http\/(?:express4\/|documents\/|schemas\/(?:chinook|composite-keys|long-names|mysql-types|northwind|self-relations)\.)/,
  /^http\/(?:access\/oracle|bulk\/crash|clients\/(?:react-admin|refine)|keys\/indexes|nested\/crash|writes\/idempotency-proofs)\.js$/,
  /^http\/(?:filters\/(?:differential|large-numbers|search-differential)|lists\/(?:aggregates-differential|walks))\.js$/,
  /^http\/(?:dialects\/(?:values|long-texts|times)|outages\/(?:outages|write-time)|replies\/export-large|transactions\/handles)\.js$/,
  /^http\/(?:push\/(?:growth|growth-servers|servers|failures)|security\/fuzz)\.js$/,
]

/** Processes items in order with a number of parallel lanes. Each lane has its own process. */
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

/** A process that runs test files. The process is replaced if it hangs or dies, or after many runs. */
class Lane {
  #tests
  #environment
  #child = null
  #runs = 0

  /** @param mutant mutant that is already active while modules are loaded */
  constructor(tests, mutant) {
    this.#tests = tests
    this.#environment = mutant === undefined ? {} : { [ACTIVE]: mutant }
  }

  async #started() {
    const { root, build, servers, database } = this.#tests
    const run = servers.newRun()
    const child = fork(worker, [root, build], {
      cwd: root,
      env: { ...process.env, ...FIXED, ...this.#environment, BUILD: build, TEST_DATABASE: database, TEST_RUN: run },
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

  /**
   * Runs a test file. `failure` is the title of the first failed test, or null. `isHung`: the process had to be killed.
   */
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
    // A mutant may have changed the state of the process, so the next mutant gets a new process.
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
      // The process has already ended.
    }
    await this.#tests.servers.sweep(this.#tests.database, child.testRun).catch(() => {})
  }
}

export class Tests {
  #state
  #sound = new Map()
  /** The records of `known` for the chosen test files. */
  #part = new Map()
  /** Mutants that are executed while modules are loaded. Testing them needs a new process per mutant. */
  early = new Set()
  /**
   * Records by path below `test`: `digest`, `seconds`, `failure`, and `met`. By mutated file, `met` has the file's
   * `digest` and the `ids` of executed mutants.
   */
  known

  /** @param chosen texts; a test file is chosen if its path contains one of them */
  constructor(root, build, servers, { chosen, database }) {
    this.root = root
    this.chosen = chosen
    this.build = build
    this.servers = servers
    this.database = database
    // Tests execute other code on other databases, so what they meet is kept for each.
    this.#state = join(root, '.build-state', database === 'sqlite' ? 'mutants.json' : `mutants-${database}.json`)
    this.known = new Map(existsSync(this.#state) ? JSON.parse(readFileSync(this.#state, 'utf8')) : [])
  }

  #files() {
    return readdirSync(join(this.root, this.build, 'test'), { recursive: true })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => /^(?:http|unit)\/.*\.js$/.test(path) && !LEFT_OUT.some((pattern) => pattern.test(path)))
      .toSorted()
  }

  /** Finds which mutants each test file executes. Test files without a current record are run once. */
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
    // Records of test files that are not chosen are kept for later runs.
    this.#part = new Map([...this.known].filter(([file]) => isChosen(file)))
    for (const [file, { failure, seconds }] of this.#part) {
      if (failure !== null) console.log(`  left out: ${file}, which fails without any mutant: ${failure}`)
      else if (seconds > PATIENCE) console.log(`  left out: ${file}, which takes ${Math.round(seconds)} seconds`)
    }
  }

  /**
   * Test files that execute a mutant, in the order of running. First come files that probably kill the mutant soon,
   * according to `kills`. Next come files that execute most mutants of the mutated file, and run however long they
   * take. Other files follow.
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

  /**
   * Runs test files for each mutant until one fails, and calls `tell` with the result. `kills` has a map for each
   * mutated file.
   */
  async kill(mutants, lanes, budget, tell) {
    const kills = new Map(mutants.map(({ file }) => [file, new Map()]))
    const first = new Lane(this)
    await first.start()
    await first.stop()
    // Mutants that need their own process come last, because `kills` is more complete by that time.
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

  /**
   * Whether a test file passes without a mutant. The file is run once, because a broken test file would seem to kill
   * every mutant.
   */
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
