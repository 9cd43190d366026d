// What the tests of a rig have in common: which programs they need, servers that are stopped at the end, and figures.

import ava, { type ExecutionContext, type TestFn } from 'ava'
import { missingPrograms } from './programs.js'

type Rig = (title: string, work: (t: ExecutionContext) => Promise<void>) => void

const test = ava.serial as TestFn

/**
 * Declares tests that need these programs, such as `pgbouncer`. Where one is missing they are left out, and the title says
 * which one.
 */
export function rig(...programs: readonly (string | readonly string[])[]): Rig {
  const missing = missingPrograms([...new Set(programs.flat())])
  if (missing.length === 0) return (title, work) => test(title, work)
  return (title, work) => test.skip(`${title} (missing: ${missing.join(', ')})`, work)
}

/** Stops a server when the test is over, however it ends: those that were started last stop first. */
export function using<T extends { stop(): Promise<void> }>(t: ExecutionContext, server: T): T {
  t.teardown(() => server.stop())
  return server
}

/** Prints the figures of a rig, which is what it is for. */
export function tell(t: ExecutionContext, figures: Readonly<Record<string, number | string>>): void {
  t.log(
    Object.entries(figures)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  )
}
