const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/** Converts text to HTML. Text between backquotes becomes code. */
export function prose(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** Converts text to paragraphs, which are separated by blank lines. */
export function paragraphs(text: string): string {
  return text
    .split(/\n\s*\n/)
    .map((each) => `<p>${prose(each.trim())}</p>`)
    .join('\n')
}

export function code(text: string): string {
  return `<code>${escaped(text)}</code>`
}

/** HTML table from cells. It scrolls if it is wider than the page. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: 'th' | 'td', row: readonly string[]): string =>
    row.map((each) => `<${tag}>${each}</${tag}>`).join('')
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')
  return `<div class="scroll" tabindex="0"><table><thead><tr>${cells('th', head)}</tr></thead><tbody>${body}</tbody></table></div>`
}
