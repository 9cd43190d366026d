import { inspect } from 'node:util'

/** What an error has at most of lines, of nested errors, and of characters in a line. */
const FRAMES = 50
const NESTED = 20
const LENGTH = 10_000

/**
 * Where errors go that nobody asked for. Without the request beside them: that would print its headers, credentials
 * included.
 */
export function logError(error: unknown): void {
  console.error(printed(error))
}

/**
 * An error as lines of text. What it says may come from a client, by way of a driver's message or a value in it: every
 * part is one line, each but the first is indented, and what would end a line or command a terminal is escaped, so that
 * no text looks like an entry of its own.
 */
export function printed(error: unknown): string {
  try {
    return linesOf(error, '', new Set()).join('\n')
  } catch {
    return 'An error that cannot be printed.'
  }
}

function linesOf(value: unknown, label: string, seen: Set<unknown>): readonly string[] {
  if (!(value instanceof Error)) return [label + plain(inspect(value, SETTINGS))]
  if (seen.has(value)) return [`${label}${plain(String(value.name))} (as above)`]
  if (seen.size === NESTED) return [`${label}more errors`]
  seen.add(value)
  const head = value.message === '' ? value.name : `${value.name}: ${value.message}`
  const below = Reflect.ownKeys(value)
    .filter((key) => typeof key === 'symbol' || !HEAD.has(key))
    .flatMap((key) => memberLines(key, Reflect.get(value, key), seen))
  return [label + plain(head), ...framesOf(value), ...below.map((line) => `  ${line}`)]
}

function memberLines(key: string | symbol, value: unknown, seen: Set<unknown>): readonly string[] {
  const name = plain(String(key))
  if (!Array.isArray(value) || !value.some((each) => each instanceof Error)) return linesOf(value, `${name}: `, seen)
  return value.flatMap((each, index) => linesOf(each, `${name}[${index}]: `, seen))
}

/** What stands in the first lines. */
const HEAD: ReadonlySet<string> = new Set(['name', 'message', 'stack'])

/** Nobody's own code runs, and nothing is broken into lines. */
const SETTINGS = {
  depth: 2,
  breakLength: Infinity,
  compact: true,
  customInspect: false,
  maxStringLength: LENGTH,
} as const

/** The lines of a stack behind the message, which may have lines of its own. */
function framesOf({ stack, message }: Error): readonly string[] {
  if (typeof stack !== 'string') return []
  const start = stack.indexOf(message)
  return stack
    .slice(start < 0 ? 0 : start + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES)
    .map((line) => `    ${plain(line.trim())}`)
}

/** One line without control characters, separators of lines and paragraphs, marks of direction and lone surrogates. */
function plain(text: string): string {
  const shown = text.length > LENGTH ? `${text.slice(0, LENGTH)}... ${text.length - LENGTH} more characters` : text
  return shown.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => NAMED.get(character) ?? escaped(character))
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
