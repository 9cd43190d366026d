/** A fenced block. `line` is where its fence stands, from 1. */
export interface Block {
  readonly language: string
  readonly text: string
  readonly line: number
}

/** The fenced blocks of a document, in order. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { language: string; line: number; text: string[] } | null = null
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('```')) open?.text.push(line)
    else if (open === null) open = { language: line.slice(3).trim(), line: index + 1, text: [] }
    else {
      blocks.push({ language: open.language, line: open.line, text: open.text.join('\n') })
      open = null
    }
  }
  if (open !== null) throw new SyntaxError(`the block of line ${open.line} does not close`)
  return blocks
}

/** The rows of the table behind `<!-- table: name -->`, without its head: the text of each cell. */
export function tableOf(markdown: string, name: string): readonly (readonly string[])[] {
  const [, behind] = markdown.split(`<!-- table: ${name} -->\n`)
  if (behind === undefined) throw new RangeError(`there is no table "${name}"`)
  const lines = behind.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('|'))
  return lines.slice(2, end).map(cellsOf)
}

function cellsOf(row: string): string[] {
  return row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** The code in a cell: what stands between backticks. */
export function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/** The only code in a cell. */
export function codeIn(cell: string | undefined): string {
  const [code = '', ...more] = codesIn(cell)
  if (code === '' || more.length > 0) throw new RangeError(`one code was due in "${cell}"`)
  return code
}
