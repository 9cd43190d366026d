// Reads statistics of processes from the system. Linux provides such statistics.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Processor time of a process in microseconds. */
export interface Cpu {
  readonly all: number
  /** Processor time of the main thread, which runs JavaScript. */
  readonly main: number
}

/** Processor time of a process. Null if the system has no figures per thread. */
export function cpuOf(pid: number): Cpu | null {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => ({ thread, time: timeOf(pid, thread) }))
    const all = threads.reduce((sum, { time }) => sum + time, 0)
    return { all, main: threads.find(({ thread }) => thread === String(pid))?.time ?? 0 }
  } catch {
    return null
  }
}

/** Processor time of a thread in microseconds. The first number in `schedstat` is nanoseconds. */
function timeOf(pid: number, thread: string): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]) / 1000
}

/** Peak memory of a process in MB. Null if the system does not provide it. */
export function peakMemoryOf(pid: number): number | null {
  try {
    const kilobytes = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return kilobytes === undefined ? null : Number(kilobytes) / 1024
  } catch {
    return null
  }
}

/**
 * Whether the servers and the load generator can have a core each. The machine needs two cores, and the system must
 * support binding.
 */
export function bindable(): boolean {
  if (availableParallelism() < 2) return false
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Binds all threads of this process to one core. */
export function bindSelf(core: number): void {
  execFileSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)], { stdio: 'ignore' })
}
