import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Block, parseBlocks, tableOf } from './markdown.js'
import { root } from './program.js'

/** A page of the documentation. `path` is relative to the root: `docs/push.md`. */
export interface Page {
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
}

async function pageAt(path: string): Promise<Page> {
  const text = await readFile(join(root, path), 'utf8')
  return { path, text, blocks: parseBlocks(path, text) }
}

/** Folders with tools and output of the documentation's website. */
const OF_SITE = /^(?:node_modules|\.vitepress)[\\/]/

/** Reads the README, AGENTS.md and every page in docs. New pages are included automatically. */
export async function readPages(): Promise<readonly Page[]> {
  const files = await readdir(join(root, 'docs'), { recursive: true })
  const pages = files.filter((file) => file.endsWith('.md') && !OF_SITE.test(file)).sort()
  return Promise.all(['README.md', 'AGENTS.md', ...pages.map((file) => `docs/${file}`)].map(pageAt))
}

/** The page whose code blocks are the files of one application. */
export const TUTORIAL = 'docs/tutorial.md'

/** Finds the page that contains a text. Exactly one page must contain it. */
export function pageWith(pages: readonly Page[], text: string): Page {
  const [page, ...more] = pages.filter((page) => page.text.includes(text))
  if (page === undefined || more.length > 0) throw new RangeError(`one page was due to have ${text}`)
  return page
}

/** Rows of the table with a name, on any page. */
export function tableIn(pages: readonly Page[], name: string): readonly (readonly string[])[] {
  return tableOf(pageWith(pages, `<!-- table: ${name} -->`).text, name)
}
