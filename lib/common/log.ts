import { redactedMessageOf, redactedStatementOf } from './redactedError.js'

/** The maximum numbers of stack lines of an error, of nested errors, and of characters in a line. */
const FRAMES = 50
const NESTED = 20
const LENGTH = 10_000

/** Logs an unexpected error. The request is not logged, because it contains credentials in its headers. */
export function logError(error: unknown): void {
  console.error(errorText(error))
}

/**
 * Returns an error as log lines. Field values are removed from messages and members of drivers and Sequelize, and
 * statements have placeholders. Messages of host code are unchanged. Continuation lines are indented and control
 * characters escaped, so that no text looks like a separate entry. Never throws.
 */
export function errorText(error: unknown): string {
  try {
    return formatLines(error, '', new Set()).join('\n')
  } catch {
    return 'An error that cannot be printed.'
  }
}

function formatLines(value: unknown, label: string, seen: Set<unknown>): readonly string[] {
  if (!(value instanceof Error)) return [`${label}${value === null ? 'null' : typeof value}; not an error`]
  if (seen.has(value)) return [`${label}${escapeLine(String(value.name))} (as above)`]
  if (seen.size === NESTED) return [`${label}more errors`]
  seen.add(value)
  const message = redactedMessageOf(value)
  const head = message === '' ? String(value.name) : `${value.name}: ${message}`
  const statement = redactedStatementOf(value)
  const below = [
    ...MEMBERS.flatMap((name) => memberLines(name, Reflect.get(value, name))),
    ...(statement === null ? [] : [`sql: ${escapeLine(statement)}`]),
    ...Reflect.ownKeys(value).flatMap((key) => errorLines(String(key), Reflect.get(value, key), seen)),
  ]
  return [label + escapeLine(head), ...framesOf(value), ...below.map((line) => `  ${line}`)]
}

/** Members that locate an error and contain no sent or stored values. */
const MEMBERS = [
  ...['code', 'errno', 'sqlState', 'severity', 'routine', 'schema', 'table', 'column', 'constraint', 'dataType'],
  ...['syscall', 'hostname', 'address', 'port', 'status'],
]

function memberLines(name: string, value: unknown): readonly string[] {
  const isLoggable = typeof value === 'number' || (typeof value === 'string' && /^[\w$.:-]{1,128}$/.test(value))
  return isLoggable ? [`${name}: ${value}`] : []
}

/**
 * Formats the errors among the members of an error, each with the member's name. Member names come from code, not from
 * clients.
 */
function errorLines(name: string, value: unknown, seen: Set<unknown>): readonly string[] {
  const label = /^[\w$]{1,64}$/.test(name) ? name : 'error'
  if (value instanceof Error) return formatLines(value, `${label}: `, seen)
  if (label !== 'errors' || !Array.isArray(value)) return []
  return value.flatMap((each: unknown, index) => {
    const item = itemLine(each)
    return item === null ? formatLines(each, `errors[${index}]: `, seen) : [`errors[${index}]: ${item}`]
  })
}

/** Formats a validation error of a model: its type, the attribute and the validator; null for other values. */
function itemLine(item: unknown): string | null {
  const { type, path, validatorKey } = Object(item) as { type?: unknown; path?: unknown; validatorKey?: unknown }
  if (item instanceof Error || typeof validatorKey !== 'string') return null
  return escapeLine([type, path, validatorKey].filter((each) => typeof each === 'string').join(' '))
}

/** Returns the stack frames without the message, because a message may have several lines. */
function framesOf({ stack, message }: Error): readonly string[] {
  if (typeof stack !== 'string') return []
  const start = stack.indexOf(message)
  const lines = stack
    .slice(start < 0 ? 0 : start + message.length)
    .trimEnd()
    .split('\n')
  // If the message changed after the stack was captured, the old message precedes the frames.
  const first = lines.findLastIndex((line) => !FRAME.test(line)) + 1
  return lines.slice(first, first + FRAMES).map((line) => `    ${escapeLine(line.trim())}`)
}

const FRAME = /^\s+at .*(?::\d+:\d+\)?|\(<anonymous>\)|\(native\)|\(index \d+\))$/

/**
 * Escapes control characters, line separators, bidirectional marks and lone surrogates, so that the text stays on one
 * line.
 */
function escapeLine(text: string): string {
  const shown = text.length > LENGTH ? `${text.slice(0, LENGTH)}... ${text.length - LENGTH} more characters` : text
  return shown.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => NAMED.get(character) ?? escapeCharacter(character),
  )
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
