// The programs and declarations of the package in as few files as its entries share. Programs are CommonJS: the `.mjs` files
// beside them export the same objects, so that a process that imports and requires has one package.

import { transform } from 'esbuild'
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

/**
 * Programs without blanks and with short names of local variables: a fifth of the tarball. Names of the functions of a file stay, and
 * lines have an end, for the stack traces of users.
 */
const compact = {
  name: 'compact',
  generateBundle: async (_, files) => {
    const options = { minify: true, lineLimit: 500, target: 'node20', charset: 'utf8' }
    for (const file of Object.values(files)) {
      if (file.type === 'chunk') file.code = (await transform(file.code, options)).code
    }
  },
}

const CLIENT = 'lib/client/index.ts'
const CREATE = 'lib/create/index.ts'

/** Test runners that run modules in a context of their own, such as Jest, cannot do `import()` in CommonJS. */
const COMMONJS = { format: 'cjs', dynamicImportInCjs: false }

async function write(input, output, plugins = [], options = {}) {
  const build = await rolldown({
    input,
    external: isExternal,
    platform: 'node',
    plugins,
    onLog,
    // How long plugins took is no warning.
    checks: { bundlerTimings: false },
    // The paths of source files above their code are 3 kB of the tarball.
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

/** Writes the entries, which are paths without an extension, below `dist`. */
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

/** Writes an entry that no project imports, without declarations. */
export async function bundleProgram(root, entry) {
  const output = { file: `${root}dist/${entry}.js`, comments: false, sourcemap: false, ...COMMONJS }
  await write(`${root}${entry}.ts`, output)
}

/** Writes the client in one file for `<script type="module">`, which `apiDocs` serves. */
export async function bundleClient(root) {
  await write(`${root}${CLIENT}`, {
    file: `${root}dist/browser/client.js`,
    format: 'es',
    minify: true,
    sourcemap: false,
  })
}

/**
 * Sequelize's types by their structure, in place of their import. Rows that projects declare by themselves are no models, which a
 * missing import, whose types are `any`, would make of them.
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

/** The members of package.json that all packages share. */
const SHARED = ['version', 'license', 'author', 'repository', 'engines']

function sharedOf(manifest) {
  return Object.fromEntries(SHARED.filter((name) => name in manifest).map((name) => [name, manifest[name]]))
}

/** Writes the package of the client alone into a folder, and gives its package.json. */
export async function bundleClientPackage(root, folder, manifest) {
  const output = { comments: false, sourcemap: false }
  await write(`${root}${CLIENT}`, { ...output, file: `${folder}/index.js`, format: 'es' })
  await write(`${root}${CLIENT}`, { ...output, file: `${folder}/index.cjs`, ...COMMONJS })
  const declarations = { dir: folder, format: 'es', entryFileNames: '[name].ts' }
  await write({ index: `${root}${CLIENT}` }, declarations, [
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
      './package.json': './package.json',
    },
    sideEffects: false,
    peerDependencies: { 'socket.io-client': manifest.peerDependencies['socket.io-client'] },
    peerDependenciesMeta: { 'socket.io-client': { optional: true } },
  }
}

/** Packages that created applications may need. */
const CREATED =
  /^(?:@modelcontextprotocol\/.*|@types\/(?:express|jsonwebtoken|node)|express|jsonwebtoken|mariadb|mysql2|pg|pg-hstore|sequelize|socket\.io|socket\.io-client|sqlite3|typescript)$/

/** Their ranges, which are those that the package was built and tested with. */
export function versionsFor({ name, version, dependencies, devDependencies }) {
  const all = Object.entries({ ...dependencies, ...devDependencies })
  return { ...Object.fromEntries(all.filter(([each]) => CREATED.test(each))), [name]: `^${version}` }
}

/** Writes the package that creates applications into a folder, and gives its package.json. */
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
