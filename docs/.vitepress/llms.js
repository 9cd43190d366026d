// Files of the site for programs: llms.txt, an index of the pages; llms-full.txt, all pages in one file; and each page as Markdown.

import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The page for coding agents, which is at the root of the repository. */
const AGENTS = 'AGENTS.md'

function indexOf({ title, description }, contents) {
  const groups = contents.map(({ title, pages }) => {
    const entries = pages.map(({ title, file, about }) => `- [${title}](${file})${about === '' ? '' : `: ${about}`}`)
    return `\n## ${title}\n\n${entries.join('\n')}\n`
  })
  const short = `How to mount, scope, query and test with it, in short: [AGENTS.md](${AGENTS})`
  return `# ${title}\n\n> ${description}\n\n${short}\n\nAll pages in one file: [llms-full.txt](llms-full.txt)\n${groups.join('')}`
}

/** Writes the files beside the built pages. */
export async function writeForPrograms({ srcDir, outDir, site }, contents) {
  const pages = contents.flatMap((group) => group.pages)
  const texts = await Promise.all(pages.map(({ file }) => readFile(join(srcDir, file), 'utf8')))
  for (const [index, { file }] of pages.entries()) {
    await mkdir(dirname(join(outDir, file)), { recursive: true })
    await writeFile(join(outDir, file), texts[index])
  }
  await copyFile(join(srcDir, `../${AGENTS}`), join(outDir, AGENTS))
  await writeFile(join(outDir, 'llms.txt'), indexOf(site, contents))
  const whole = pages.map(({ file }, index) => `<!-- ${file} -->\n\n${texts[index]}`)
  await writeFile(join(outDir, 'llms-full.txt'), whole.join('\n'))
}
