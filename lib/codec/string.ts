import type { Field, JsonValue } from '../../types/field.js'
import type { FieldMessage } from '../../types/messages.js'
import type { JsonSchema } from '../../types/openApi.js'
import { createMessage } from '../common/messages.js'
import { INVALID_SEGMENTS } from '../common/pathSegment.js'
import { isLonger, isStorableText, trimBlanks } from '../common/values.js'
import { isTextValid } from '../sequelize/builtInValidators.js'
import { textToJson } from './anyJson.js'
import { lengthBounds } from './bounds.js'
import { type Codec, conflictOf, NOT_STORABLE, type Reader, type RuledField, toFilterValue } from './codec.js'
import { describeSchema, omitUndefined, TEXT } from './schema.js'

export const string: Codec = {
  createBodyReader,
  readText: (text) => toFilterValue(isStorableText(text) ? text : null),
  readKey: (text, { maxLength = Number.POSITIVE_INFINITY, padded }) => {
    const isValue = text !== '' && isStorableText(text) && [...text].length <= maxLength
    return isValue && !(padded === true && text.endsWith(' ')) ? text : null
  },
  createDecoder: ({ padded }) => (padded === true ? decodePadded : textToJson),
  noun: () => 'text without NUL characters',
  kind: 'text',
  findBoundsConflict: (field) => conflictOf(lengthBounds(field), (min, max) => min > max),
  schemas: { reply: () => TEXT, body: bodySchema },
  example: () => 'a',
}

const EMAIL_MESSAGE = createMessage('email')

interface RuleCheck {
  readonly accepts: (text: string) => boolean
  readonly message: FieldMessage
}

/**
 * Reads a text and checks its length before its other rules. Patterns may need quadratic time or more, so they never
 * run on a text that exceeds its maximum length.
 */
function createBodyReader(field: RuledField): Reader {
  const { valueType, rules } = field
  const { min, max, tooLow, tooHigh } = lengthBounds({ valueType, rules })
  // The model's `isEmail` accepts fewer texts than the rule.
  const hasEmailCheck = rules.checks?.some(({ name }) => name === 'isEmail') === true
  const checks: readonly RuleCheck[] = [
    { accepts: isStorableText, message: NOT_STORABLE },
    ...(min === undefined ? [] : [{ accepts: (text: string) => !isShorter(text, min), message: tooLow }]),
    ...(rules.email === true && !hasEmailCheck ? [{ accepts: isEmail, message: EMAIL_MESSAGE }] : []),
    ...(rules.match ?? []).map((pattern) => ({
      accepts: (text: string) => pattern.test(text),
      message: rules.messages?.match?.get(pattern) ?? createMessage('pattern'),
    })),
    ...(rules.checks ?? []).map((check) => ({
      accepts: (text: string) => isTextValid(check, text),
      message: check.message,
    })),
  ]
  return (raw) => {
    if (typeof raw !== 'string') return { messages: [createMessage('string')] }
    const value = valueType.padded === true ? trimBlanks(raw) : raw
    if (max !== undefined && isLonger(value, max)) return { messages: [tooHigh] }
    for (const { accepts } of checks) {
      if (!accepts(value)) return { messages: checks.flatMap((check) => (check.accepts(value) ? [] : [check.message])) }
    }
    return { value }
  }
}

/**
 * Whether a text has fewer code points than a minimum. As in Sequelize's `len`, variation selectors do not count
 * towards a minimum. A character therefore has at most three UTF-16 units: a surrogate pair and its selector.
 */
function isShorter(value: string, min: number): boolean {
  return value.length < min || (value.length < 3 * min && [...value.replace(/[\uFE0E\uFE0F]/g, '')].length < min)
}

/**
 * Whether a text has one `@` after at least one character, no blanks, and at least two non-empty labels after the `@`.
 */
function isEmail(value: string): boolean {
  const at = value.indexOf('@')
  if (at < 1 || value.includes('@', at + 1) || /\s/.test(value)) return false
  return value.includes('.', at) && value[at + 1] !== '.' && !value.endsWith('.') && !value.includes('..', at)
}

/** Decodes a CHAR. PostgreSQL returns its padding; MySQL removes all trailing blanks. */
function decodePadded(raw: unknown): JsonValue {
  return typeof raw === 'string' ? trimBlanks(raw) : textToJson(raw)
}

const EMAIL = '^[^\\s@]+@[^\\s@.]+(?:\\.[^\\s@.]+)+$'

function bodySchema(
  { valueType, rules, isKey = false }: RuledField & Partial<Pick<Field, 'isKey'>>,
  parts: number,
): JsonSchema {
  const { min, max } = lengthBounds({ valueType, rules })
  const patterns = rules.match ?? []
  const portable = patterns.filter(isPortablePattern)
  const [padded, email] = [valueType.padded === true, rules.email === true]
  const [pattern, ...others] = [
    ...(padded ? [paddingPattern(min ?? 0, max)] : []),
    ...(email ? [EMAIL] : []),
    ...portable.map(({ source }) => source),
  ]
  const schema = omitUndefined({
    type: 'string',
    ...(padded ? {} : { minLength: min, maxLength: max }),
    pattern,
    allOf: others.length === 0 ? undefined : others.map((other) => ({ pattern: other })),
    // `.`, `..` and the empty text cannot be a path segment. In a composite key `~` joins the parts, so dots are valid
    // there.
    ...(isKey ? { not: parts > 1 ? { const: '' } : { enum: [...INVALID_SEGMENTS] } } : {}),
    examples: email ? ['name@example.com'] : undefined,
  })
  const unsaid = patterns.filter((each) => !portable.includes(each))
  return describeSchema(schema, ...unsaid.map((each) => `Must match \`${each}\`.`))
}

/** Returns the pattern of a CHAR. Trailing blanks are padding and do not count. */
function paddingPattern(min: number, max: number | undefined): string {
  const value = `[\\s\\S]{${Math.max(min - 1, 0)},${max === undefined ? '' : max - 1}}[^ ]`
  return min > 0 ? `^${value} *$` : `^(?:${value})? *$`
}

/**
 * Whether a pattern has an equal meaning in JSON Schema: it has no flags that matter, and is a valid Unicode pattern.
 */
function isPortablePattern({ source, flags }: RegExp): boolean {
  if (flags.replace(/[ud]/g, '') !== '') return false
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}
