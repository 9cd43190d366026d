// The programs and declarations of the package in as few files as its entries share. Programs are CommonJS: the `.mjs` files
// beside them export the same objects, so that a process that imports and requires has one package.

import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

/** Packages and Node's own modules stay imports. */
const isExternal = (id) => !/^[./]/.test(id)

/** The modules that declare options: augmentations need the augmented interface in their own file. */
const OPTIONS = /\/(?:types\/options|lib\/behaviour\/\w+|lib\/push\/behaviour)\./

const MODULE = /^declare module "\.[^"]*" \{\n([\s\S]*?)^\}\n/gm

/**
 * Behaviours declare their options by augmenting a module. In a bundle that module is the file itself, where a second
 * declaration of an interface is enough.
 */
const augmentations = {
  name: 'augmentations',
  renderChunk: (code) =>
    code.replaceAll(MODULE, (_, body) => body.replaceAll(/^ {2}interface /gm, 'export interface ')),
}

/** Reports what the bundler warns of, but for augmentations, which the plugin above takes care of. */
function onLog(level, log, report) {
  if (!log.message.includes('Relative module declaration')) report(level, log)
}

/** Imports of optional peers. Their types are `any` where the peer is not installed. */
const optionalPeers = (names) => ({
  name: 'optional-peers',
  renderChunk: (code) =>
    code.replaceAll(/^import [^\n]* from "([^"]+)";$/gm, (line, from) =>
      names.includes(from) ? `/** @ts-ignore: an optional peer */\n${line}` : line,
    ),
})

async function write(input, output, plugins = [], options = {}) {
  const build = await rolldown({
    input,
    external: isExternal,
    platform: 'node',
    plugins,
    onLog,
    ...options,
    treeshake: { moduleSideEffects: false },
  })
  try {
    await build.write(output)
  } finally {
    await build.close()
  }
}

/** Writes the entries, which are paths without an extension, below `dist`. */
export async function bundle(root, entries, optional) {
  const input = Object.fromEntries(entries.map((entry) => [entry, `${root}${entry}.ts`]))
  const names = { minifyInternalExports: false, entryFileNames: '[name].js', chunkFileNames: 'lib/[name].js' }
  await write(input, { ...names, dir: `${root}dist`, format: 'cjs', comments: false, sourcemap: false })
  const declarations = { ...names, entryFileNames: '[name].ts', chunkFileNames: 'lib/[name].ts' }
  const codeSplitting = { includeDependenciesRecursively: false, groups: [{ name: 'options.d', test: OPTIONS }] }
  const plugins = [
    dts({ generator: 'oxc', dtsOnly: true, cwd: root, tsconfig: `${root}tsconfig.json` }),
    augmentations,
    optionalPeers(optional),
  ]
  await write(input, { ...declarations, dir: `${root}dist`, format: 'es', codeSplitting }, plugins, {
    preserveEntrySignatures: 'allow-extension',
  })
}
