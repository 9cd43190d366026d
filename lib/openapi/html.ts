const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/** Converts text to HTML. Text between backquotes becomes code. */
export function toHtml(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

/** Converts text to HTML paragraphs. Blank lines separate paragraphs. */
export function toParagraphs(text: string): string {
  return text
    .split(/\n\s*\n/)
    .map((each) => `<p>${toHtml(each.trim())}</p>`)
    .join('\n')
}

export function toCode(text: string): string {
  return `<code>${escapeHtml(text)}</code>`
}

/** Writes an HTML table from cells. The table scrolls if it is wider than the page. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const toCells = (tag: 'th' | 'td', row: readonly string[]): string =>
    row.map((each) => `<${tag}>${each}</${tag}>`).join('')
  const body = rows.map((row) => `<tr>${toCells('td', row)}</tr>`).join('')
  return `<div class="scroll" tabindex="0"><table><thead><tr>${toCells('th', head)}</tr></thead><tbody>${body}</tbody></table></div>`
}
