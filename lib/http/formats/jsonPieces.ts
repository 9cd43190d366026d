import { isObject } from '../../common/object.js'

/** Values that are written at once, longer texts counted as several. */
const LIGHT = 2000
const CHARACTERS = 100

/** Whether a value is worth writing in pieces. */
export function isHeavy(value: unknown): boolean {
  return weightOf(value, LIGHT) > LIGHT
}

/** How many values there are, counted no further than to a limit. */
function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS
  if (!isDivisible(value)) return 1
  const { length } = Array.isArray(value) ? value : Object.keys(value)
  if (length > most) return length
  let weight = 1
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    weight += weightOf(each, most - weight)
    if (weight > most) break
  }
  return weight
}

/** Whether JSON has the members of a value as they are. */
function isDivisible(value: unknown): value is readonly unknown[] | Readonly<Record<string, unknown>> {
  if (Array.isArray(value)) return true
  return isObject(value) && typeof value.toJSON !== 'function'
}

/** What `JSON.stringify` makes of a value, in pieces of which none takes long. */
export function* jsonPieces(value: unknown): Generator<string, void, undefined> {
  if (!isDivisible(value) || !isHeavy(value)) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  if (Array.isArray(value)) {
    yield '['
    for (const [index, each] of value.entries()) {
      if (index > 0) yield ','
      yield* jsonPieces(each)
    }
    yield ']'
    return
  }
  let mark = '{'
  for (const name of Object.keys(value)) {
    const each: unknown = Reflect.get(value, name)
    if (each === undefined || typeof each === 'function') continue
    yield `${mark}${JSON.stringify(name)}:`
    mark = ','
    yield* jsonPieces(each)
  }
  yield mark === '{' ? '{}' : '}'
}
