/**
 * Texts of a database or of the user as source text. Nothing but these functions puts such a text into a file of code: no name, comment
 * or default of a table can end a literal or a comment.
 */

const ESCAPES: Readonly<Record<string, string>> = { "'": "\\'", '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A string literal in single quotes. Control characters, line separators and halves of surrogate pairs are escaped. */
export function literal(text: string): string {
  const escaped = text.replace(/['\\]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\p{Cs}/gu, (found) => ESCAPES[found] ?? unicode(found))
  return `'${escaped}'`
}

function unicode(found: string): string {
  return `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
}

/** A text in one line, without characters that a terminal or an editor obeys. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim()
}

/** A comment of one line. */
export function comment(text: string): string {
  return `// ${oneLine(text)}`
}

/** A text for a file of Markdown, in which no character formats, links or is HTML. */
export function markdown(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]<>()#+!|&~]/g, '\\$&')
}

/** An array literal of strings. */
export function literals(texts: readonly string[]): string {
  return `[${texts.map(literal).join(', ')}]`
}
