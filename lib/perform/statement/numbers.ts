const numbers = new WeakMap<object, number>()
let last = 0

/** The number of an object, which no other ever has. */
export function numberOf(object: object): number {
  const known = numbers.get(object)
  if (known !== undefined) return known
  last += 1
  numbers.set(object, last)
  return last
}
