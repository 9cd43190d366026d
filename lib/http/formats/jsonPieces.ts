import { isObject } from '../../common/object.js'

/** The maximum number of values that are written at once. A long text counts as several values. */
const MAX_LIGHT_VALUES = 2000
const CHARACTERS_PER_VALUE = 100

/** Whether a value is large enough to be written in pieces. */
export function isLarge(value: unknown): boolean {
  return countValues(value, MAX_LIGHT_VALUES) > MAX_LIGHT_VALUES
}

/** Counts a value and all values nested in it. Stops above the limit `most`. */
function countValues(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS_PER_VALUE
  if (!isDivisible(value)) return 1
  let weight = 1
  if (Array.isArray(value)) {
    if (value.length > most) return value.length
    for (const each of value) {
      weight += countValues(each, most - weight)
      if (weight > most) break
    }
    return weight
  }
  // Object.values would allocate an array for each record.
  for (const name in value) {
    weight += countValues(value[name], most - weight)
    if (weight > most) break
  }
  return weight
}

/** Whether the members of a value can be written one by one. A value with `toJSON` writes itself. */
function isDivisible(value: unknown): value is Readonly<Record<string, unknown>> {
  if (Array.isArray(value)) return true
  return isObject(value) && typeof value.toJSON !== 'function'
}

/** Yields the text of `JSON.stringify` in pieces that each take little time. */
export function* stringifyInPieces(value: unknown): Generator<string, void, undefined> {
  if (!isDivisible(value) || !isLarge(value)) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  if (Array.isArray(value)) {
    yield '['
    let mark = ''
    for (const part of splitItems(value)) {
      yield mark
      mark = ','
      const [only] = part
      if (part.length === 1) yield* stringifyInPieces(only)
      else yield JSON.stringify(part).slice(1, -1)
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
    yield* stringifyInPieces(each)
  }
  yield mark === '{' ? '{}' : '}'
}

/** Splits an array into groups of at most MAX_LIGHT_VALUES values. An item with more values is a group of its own. */
function* splitItems(items: readonly unknown[]): Generator<readonly unknown[], void, undefined> {
  let start = 0
  let weight = 0
  for (const [index, item] of items.entries()) {
    const added = countValues(item, MAX_LIGHT_VALUES)
    if (weight > 0 && weight + added > MAX_LIGHT_VALUES) {
      yield items.slice(start, index)
      start = index
      weight = 0
    }
    weight += added
  }
  if (start < items.length) yield items.slice(start)
}
