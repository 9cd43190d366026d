/** Returns pseudorandom numbers from 0 up to, but excluding, 1. Equal seeds give equal numbers (mulberry32). */
export type Random = () => number

export function randomOf(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit)
}

export function pick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[below(random, choices.length)] ?? choices[0]
}
