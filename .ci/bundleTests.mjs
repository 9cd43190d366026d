import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const COMMON = { bundle: true, format: 'esm', platform: 'node', packages: 'external', logLevel: 'error' }

/**
 * Bundles the modules that `.build/lib/index.js` loads, for runs of all tests. Loading the modules one by one takes a
 * third of the processor time of a small test file. Each module also gets a file with its exports. test/bundled.mjs
 * resolves imports to these files.
 */
export async function bundleTests(root) {
  const from = join(root, '.build')
  const to = join(from, 'lib/bundled')
  const index = join(from, 'lib/index.js')
  const options = { ...COMMON, absWorkingDir: from }
  const { metafile } = await build({ ...options, entryPoints: [index], outdir: to, write: false, metafile: true })
  const lines = [`export {} from './lib/index.js'`]
  const modules = Object.keys(metafile.inputs).sort()
  for (const [at, path] of modules.entries()) {
    const names = Object.keys(await import(pathToFileURL(join(from, path)).href))
    const file = join(to, path)
    mkdirSync(dirname(file), { recursive: true })
    const target = relative(dirname(file), join(to, 'all.js')).replaceAll('\\', '/')
    writeFileSync(file, `export { ${names.map((name) => `m${at}_${name} as ${name}`).join(', ')} } from '${target}'\n`)
    if (names.length > 0)
      lines.push(`export { ${names.map((name) => `${name} as m${at}_${name}`).join(', ')} } from './${path}'`)
  }
  // The bundle is in a folder as deep as the folders of lib, because some modules read files with relative paths.
  await build({ ...options, stdin: { contents: lines.join('\n'), resolveDir: from }, outfile: join(to, 'all.js') })
  writeFileSync(join(to, 'modules.json'), JSON.stringify(modules))
}
