/** The most characters of a text that has a pattern and no bound of its own; a minimum beyond that is its maximum too. */
export function impliedLength(minLength = 0): number {
  return Math.max(10_000, minLength)
}

/** The validators of Sequelize that look for no pattern in a text, and take time in proportion to its length. */
const PATTERNLESS: ReadonlySet<string> = new Set([
  ...['notNull', 'isNull', 'notEmpty', 'isEmpty', 'len', 'isLength', 'isByteLength', 'min', 'max', 'isImmutable'],
  ...['equals', 'contains', 'notContains', 'isIn', 'notIn', 'isJSON', 'isLowercase', 'isUppercase'],
])

/** Whether one of an attribute's validators may be a regular expression; functions are the host's own affair. */
export function hasPattern(validate: object | undefined): boolean {
  return Object.entries(validate ?? {}).some(([name, test]) => typeof test !== 'function' && !PATTERNLESS.has(name))
}
