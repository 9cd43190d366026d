/** Returns the maximum length of a text that has a pattern and no maximum, but at least the minimum length. */
export function impliedMaxLength(minLength = 0): number {
  return Math.max(10_000, minLength)
}

/** Sequelize's validators that use no regular expression, so that their time is linear. */
const LINEAR_VALIDATORS: ReadonlySet<string> = new Set([
  ...['notNull', 'isNull', 'notEmpty', 'isEmpty', 'len', 'isLength', 'isByteLength', 'min', 'max', 'isImmutable'],
  ...['equals', 'contains', 'notContains', 'isIn', 'notIn', 'isJSON', 'isLowercase', 'isUppercase'],
])

/** Whether a validator of the attribute may use a regular expression. Functions are the host's responsibility. */
export function hasPattern(validate: object | undefined): boolean {
  return Object.entries(validate ?? {}).some(
    ([name, test]) => typeof test !== 'function' && !LINEAR_VALIDATORS.has(name),
  )
}
