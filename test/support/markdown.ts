/** A fenced code block of a document. */
export interface Block {
  readonly language: string
  readonly text: string
  /** Path of the document. */
  readonly page: string
  /** Path of the document and line of the fence, counted from 1: `docs/push.md:12`. */
  readonly place: string
}

/** Parses the fenced code blocks of a document, in their order. */
export function parseBlocks(path: string, markdown: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { language: string; line: number; text: string[] } | null = null
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('```')) open?.text.push(line)
    else if (open === null) open = { language: line.slice(3).trim(), line: index + 1, text: [] }
    else {
      blocks.push({ language: open.language, page: path, place: `${path}:${open.line}`, text: open.text.join('\n') })
      open = null
    }
  }
  if (open !== null) throw new SyntaxError(`the block at ${path}:${open.line} does not close`)
  return blocks
}

/** Removes the code blocks of a document. */
function removeBlocks(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```/gm, '')
}

/** Anchors of a document's headings, in the form that GitHub uses. */
export function anchorsOf(markdown: string): readonly string[] {
  const headings = removeBlocks(markdown).matchAll(/^#+ (.*)$/gm)
  const slugs = [...headings].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return slugs.map((slug, index) => {
    const before = slugs.slice(0, index).filter((other) => other === slug).length
    return before === 0 ? slug : `${slug}-${before}`
  })
}

/** Link targets in a document. */
export function linksOf(markdown: string): readonly string[] {
  return [...removeBlocks(markdown).matchAll(/\]\(([^)\s]*)\)/g)].map(([, address = '']) => address)
}

/** Rows of the tables after `<!-- table: name -->`, as texts of cells. Head rows are left out. */
export function tableOf(markdown: string, name: string): readonly (readonly string[])[] {
  const [, ...tables] = markdown.split(`<!-- table: ${name} -->\n`)
  if (tables.length === 0) throw new RangeError(`there is no table "${name}"`)
  return tables.flatMap((table) => {
    const lines = table.split('\n')
    const end = lines.findIndex((line) => !line.startsWith('|'))
    return lines.slice(2, end).map(cellsOf)
  })
}

function cellsOf(row: string): string[] {
  return row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** Texts between backticks in a cell. */
export function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/** The text between backticks in a cell. Exactly one such text must exist. */
export function codeIn(cell: string | undefined): string {
  const [code = '', ...more] = codesIn(cell)
  if (code === '' || more.length > 0) throw new RangeError(`one code was due in "${cell}"`)
  return code
}
