// The groups of the sidebar, which are those of the list of pages in docs/README.md.

import { readFileSync } from 'node:fs'

const ENTRY = /^- \[([^\]]+)\]\(([\w/-]+\.md)\)(?:: (.*))?$/

/** Groups with their pages, in order: `[{ title, pages: [{ title, file, about }] }]`. */
export function readContents() {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const groups = []
  for (const line of text.replaceAll(/\n {2}(?=\S)/g, ' ').split('\n')) {
    const [, group] = /^\*\*(.+)\*\*$/.exec(line) ?? []
    if (group !== undefined) groups.push({ title: group, pages: [] })
    const [, title, file, about = ''] = ENTRY.exec(line) ?? []
    if (title !== undefined) groups.at(-1).pages.push({ title, file, about })
  }
  return groups
}
