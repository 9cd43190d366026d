// Bundles the programs and declarations of the package into as few files as its entries share. Programs are CommonJS.
// The `.mjs` files next to them export their objects, so that a process that uses `import` and `require` loads the
// package once.

import { transform } from 'esbuild'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

/** Imports of packages and of Node.js modules are not bundled. */
const isExternal = (id) => !/^[./]/.test(id)

/**
 * Modules that declare options. Such modules stay in a file of their own, because an augmentation needs the augmented
 * interface in its file.
 */
const OPTIONS = /\/(?:types\/options|lib\/behaviour\/\w+|lib\/push\/behaviour)\./

const MODULE = /^declare module "\.[^"]*" \{\n([\s\S]*?)^\}\n/gm

/**
 * Behaviours declare their options by augmenting a module. In a bundle, the augmented module is the file itself. A
 * second declaration of the interface suffices there.
 */
const augmentations = {
  name: 'augmentations',
  renderChunk: (code) =>
    code.replaceAll(MODULE, (_, body) => body.replaceAll(/^ {2}interface /gm, 'export interface ')),
}

/** Reports warnings of the bundler, except about augmentations, which the plugin above rewrites. */
function onLog(level, log, report) {
  if (!log.message.includes('Relative module declaration')) report(level, log)
}

/** Marks imports of optional peers. Types from such an import become `any` if the peer is not installed. */
const optionalPeers = (names) => ({
  name: 'optional-peers',
  renderChunk: (code) =>
    code.replaceAll(/^import [^\n]* from "([^"]+)";$/gm, (line, from) =>
      names.includes(from) ? `/** @ts-ignore: an optional peer */\n${line}` : line,
    ),
})

/**
 * Removes blanks and shortens names of local variables, which saves a fifth of the tarball. For users' stack traces,
 * names of top-level functions stay, and lines have a maximum length.
 */
const compact = {
  name: 'compact',
  generateBundle: async ({ format }, files) => {
    // In ES modules, `minify` would also shorten names of top-level functions.
    const minified = format === 'es' ? { minifySyntax: true, minifyWhitespace: true } : { minify: true }
    const options = { ...minified, lineLimit: 500, target: 'node20', charset: 'utf8' }
    for (const file of Object.values(files)) {
      if (file.type === 'chunk') file.code = (await transform(file.code, options)).code
    }
  },
}

const CLIENT = 'lib/client/index.ts'
const ACTIONS = 'lib/client/actions.ts'
const CREATE = 'lib/create/index.ts'

/** Test runners with a separate context per module, such as Jest, do not support `import()` in CommonJS. */
const COMMONJS = { format: 'cjs', dynamicImportInCjs: false }

async function write(input, output, plugins = [], options = {}) {
  const build = await rolldown({
    input,
    external: isExternal,
    platform: 'node',
    plugins,
    onLog,
    // The bundler would warn about the duration of plugins.
    checks: { bundlerTimings: false },
    // Comments with the paths of source files would add 3 kB to the tarball.
    experimental: { attachDebugInfo: 'none' },
    ...options,
    treeshake: { moduleSideEffects: false },
  })
  try {
    await build.write(output)
  } finally {
    await build.close()
  }
}

/** Bundles the entries into `dist`. An entry is a path without an extension. */
export async function bundle(root, entries, optional) {
  const input = Object.fromEntries(entries.map((entry) => [entry, `${root}${entry}.ts`]))
  const names = { minifyInternalExports: false, entryFileNames: '[name].js', chunkFileNames: 'lib/[name].js' }
  await write(input, { ...names, dir: `${root}dist`, ...COMMONJS, comments: false, sourcemap: false }, [compact])
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

/** Bundles an entry that no project imports, without declarations. */
export async function bundleProgram(root, entry) {
  const output = { file: `${root}dist/${entry}.js`, comments: false, sourcemap: false, ...COMMONJS }
  await write(`${root}${entry}.ts`, output)
}

/** Bundles the client into one file for `<script type="module">`. `apiDocs` serves the file. */
export async function bundleClient(root) {
  await write(`${root}${CLIENT}`, {
    file: `${root}dist/browser/client.js`,
    format: 'es',
    minify: true,
    sourcemap: false,
  })
}

/**
 * Structural types that replace the import of Sequelize's types. Without Sequelize, types of the import would be `any`,
 * and every row type of a project would count as a model.
 */
const MODELS = `interface Model<A = any, C = any> {
  _attributes: A;
  _creationAttributes: C;
}
type ModelStatic<M extends Model> = { new (...values: never[]): M; prototype: M };
type Attributes<M extends Model> = M['_attributes'];
type CreationAttributes<M extends Model> = M['_creationAttributes'];
type CreationOptional<T> = T;`

const structuralModels = {
  name: 'structural-models',
  renderChunk: (code) => code.replace(/^import [^\n]* from "sequelize";$/m, () => MODELS),
}

/** Members of package.json that all packages of the repository share. */
const SHARED = ['version', 'license', 'author', 'repository', 'engines']

function sharedOf(manifest) {
  return Object.fromEntries(SHARED.filter((name) => name in manifest).map((name) => [name, manifest[name]]))
}

/** Writes the client's package into a folder. Returns its package.json. */
export async function bundleClientPackage(root, folder, manifest) {
  const input = { index: `${root}${CLIENT}`, actions: `${root}${ACTIONS}` }
  const outputAs = (extension) => ({
    dir: folder,
    comments: false,
    sourcemap: false,
    minifyInternalExports: false,
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `[name].${extension}`,
  })
  await write(input, { ...outputAs('js'), format: 'es' }, [compact])
  await write(input, { ...outputAs('cjs'), ...COMMONJS }, [compact])
  await write(input, { ...outputAs('ts'), format: 'es' }, [
    dts({ generator: 'oxc', dtsOnly: true, cwd: root, tsconfig: `${root}tsconfig.json` }),
    structuralModels,
    optionalPeers(['joi']),
  ])
  return {
    name: 'sequelize-crud-router-client',
    description: 'The client of sequelize-crud-router for browsers and Node, without the server.',
    ...sharedOf(manifest),
    type: 'module',
    main: './index.cjs',
    types: './index.d.ts',
    exports: {
      '.': {
        import: { types: './index.d.ts', default: './index.js' },
        require: { types: './index.d.cts', default: './index.cjs' },
      },
      './actions': {
        import: { types: './actions.d.ts', default: './actions.js' },
        require: { types: './actions.d.cts', default: './actions.cjs' },
      },
      './package.json': './package.json',
    },
    sideEffects: false,
    peerDependencies: { 'socket.io-client': manifest.peerDependencies['socket.io-client'] },
    peerDependenciesMeta: { 'socket.io-client': { optional: true } },
  }
}

/** Packages that created applications may depend on. */
const CREATED =
  /^(?:@modelcontextprotocol\/.*|@types\/(?:express|jsonwebtoken|node)|express|jsonwebtoken|mariadb|mysql2|pg|pg-hstore|sequelize|socket\.io|socket\.io-client|sqlite3|typescript)$/

/** Version ranges of the packages in `CREATED`. The package was built and tested with these ranges. */
export function versionsFor({ name, version, dependencies, devDependencies }) {
  const all = Object.entries({ ...dependencies, ...devDependencies })
  return { ...Object.fromEntries(all.filter(([each]) => CREATED.test(each))), [name]: `^${version}` }
}

/** Writes the package of `npm create` into a folder. Returns its package.json. */
export async function bundleCreatePackage(root, folder, manifest) {
  const output = { comments: false, sourcemap: false }
  await write(`${root}${CREATE}`, { ...output, file: `${folder}/index.js`, format: 'es' })
  return {
    name: 'create-sequelize-crud-router',
    description: 'Creates an application with a JSON REST API: npm create sequelize-crud-router@latest.',
    ...sharedOf(manifest),
    type: 'module',
    bin: { 'create-sequelize-crud-router': 'create.js' },
  }
}
