import { below, type Random } from '../support/differential/random.js'

export { type Random, randomOf } from '../support/differential/random.js'

/** True that often. */
export function chance(random: Random, share: number): boolean {
  return random() < share
}

/** @throws RangeError where there is nothing to choose from */
export function oneOf<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[below(random, choices.length)]
  if (choice === undefined && choices.length === 0) throw new RangeError('there is nothing to choose from')
  return choice as T
}

/** One of several things to make, each as often as its weight says. */
export function weighted<T>(random: Random, choices: readonly (readonly [weight: number, make: () => T])[]): T {
  let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, make] of choices) {
    left -= weight
    if (left < 0) return make()
  }
  throw new RangeError('there is nothing to choose from')
}

/** So many things, from `least` to `most`. */
export function several<T>(random: Random, least: number, most: number, make: () => T): T[] {
  return Array.from({ length: least + below(random, most - least + 1) }, make)
}

/** A number that looks random and is the same for the same two numbers. */
export function mixed(seed: number, index: number): number {
  let mixed = Math.imul(seed ^ 0x9e3779b1, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
