/**
 * Turns texts of a database or of the user into source code. Only these functions write such texts: they ensure that no
 * name, comment or default can end a literal or comment.
 */

const ESCAPES: Readonly<Record<string, string>> = { "'": "\\'", '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A string literal in single quotes. Control characters, line separators and lone surrogates are escaped. */
export function toLiteral(text: string): string {
  const escaped = text.replace(
    /['\\]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\p{Cs}/gu,
    (found) => ESCAPES[found] ?? toUnicodeEscape(found),
  )
  return `'${escaped}'`
}

function toUnicodeEscape(found: string): string {
  return `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
}

/** The text on one line, without control characters for terminals and editors. */
export function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim()
}

/** A one-line comment. */
export function toComment(text: string): string {
  return `// ${toOneLine(text)}`
}

/** The text with all special characters of Markdown and HTML escaped. */
export function toMarkdown(text: string): string {
  return toOneLine(text).replace(/[\\`*_{}[\]<>()#+!|&~]/g, '\\$&')
}

/** An array literal of strings. */
export function toArrayLiteral(texts: readonly string[]): string {
  return `[${texts.map(toLiteral).join(', ')}]`
}
