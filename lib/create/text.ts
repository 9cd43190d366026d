/**
 * Writes texts from a database or from the user into source code. No other code may write such texts: a name, comment
 * or default must not end a literal or a comment.
 */

const ESCAPES: Readonly<Record<string, string>> = { "'": "\\'", '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Writes a string literal in single quotes. Control characters, line separators and lone surrogates are escaped. */
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

/**
 * Rewrites an SQL expression of SQLite for Sequelize, which takes `$name` for a bind parameter, also within a text.
 * Comments are removed, because a comment at the end would continue into the statement.
 */
export function toUnboundSql(expression: string): string {
  return expression.replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"]|"")*"|'(?:[^']|'')*'/g, (token) => {
    if (/^(?:--|\/\*)/.test(token)) return ' '
    return token.startsWith("'") && token.includes('$') ? `(${token.replaceAll('$', "'||char(36)||'")})` : token
  })
}

/** Replaces line breaks and control characters by blanks. The text is safe for terminals and editors. */
export function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim()
}

/** Writes the text as a one-line comment. */
export function toComment(text: string): string {
  return `// ${toOneLine(text)}`
}

/** Escapes all special characters of Markdown and HTML. */
export function toMarkdown(text: string): string {
  return toOneLine(text).replace(/[\\`*_{}[\]<>()#+!|&~]/g, '\\$&')
}

/** Writes an array literal of strings. */
export function toArrayLiteral(texts: readonly string[]): string {
  return `[${texts.map(toLiteral).join(', ')}]`
}
