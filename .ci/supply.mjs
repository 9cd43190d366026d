// `npm run check` runs this check of everything that users install with the package. The check fails on install scripts
// and licences that are not approved. Dependencies, optional peers and their dependencies are checked. The check also
// fails if a tarball differs when it is built twice.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path) => JSON.parse(readFileSync(`${root}${path}`, 'utf8'))

const LICENCES = new Set(['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0'])

/** Approved exceptions by package name, with the reason. */
const SCRIPTS = new Map([['@scarf/scarf', 'statistics of swagger-ui-dist; docs/documents.md says how to refuse them']])
const UNLICENSED = new Map([['xmlhttprequest-ssl', 'MIT by its LICENSE file; package.json has the old form']])

/**
 * Path of a package as another package resolves it: in the other package's own folder, otherwise in the folders above.
 */
function placeOf(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (Object.hasOwn(packages, place)) return place
    if (folder === '') return null
  }
}

/** Names of the packages that a package needs. Optional peers are not included. */
function needsOf({ dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

function installedBy({ dependencies, peerDependencies }, { packages }) {
  const found = new Map()
  const visit = (from, name) => {
    const place = placeOf(packages, from, name)
    if (place === null || found.has(place)) return
    found.set(place, { name, ...packages[place] })
    for (const need of needsOf(packages[place])) visit(place, need)
  }
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) visit('', name)
  return [...found.values()]
}

function problemsOf({ name, version, license, hasInstallScript }) {
  const isLicensed = LICENCES.has(license) || (license === undefined && UNLICENSED.has(name))
  return [
    ...(hasInstallScript && !SCRIPTS.has(name) ? [`${name} ${version} runs a script when it is installed`] : []),
    ...(isLicensed ? [] : [`${name} ${version} has the licence ${license ?? '(none)'}, which is not approved`]),
  ]
}

/** Hash of each tarball as npm would publish it. */
function tarballs() {
  return ['.', '.packages/client', '.packages/create'].map((folder) => {
    const options = { cwd: `${root}${folder}`, encoding: 'utf8', shell: process.platform === 'win32' }
    const [{ name, integrity }] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], options),
    )
    return { name, integrity }
  })
}

function differing() {
  const before = tarballs()
  rmSync(`${root}.build-state/package.json`, { force: true })
  const { status } = spawnSync(process.execPath, [`${root}.ci/compile.mjs`, 'package'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) return ['the package cannot be built again']
  const after = tarballs()
  const changed = before.filter(({ integrity }, index) => integrity !== after[index].integrity)
  return changed.map(({ name }) => `the tarball of ${name} differs when it is built again`)
}

const installed = installedBy(read('package.json'), read('package-lock.json'))
const problems = [...installed.flatMap(problemsOf), ...differing()]
for (const problem of problems) console.error(problem)
if (problems.length === 0)
  console.log(`${installed.length} packages that users may install: scripts and licences approved`)
process.exitCode = problems.length === 0 ? 0 : 1
