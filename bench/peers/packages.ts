// Installs the packages of the peers. Each peer has a folder below node_modules/.cache, so that it does not become a
// dependency. Shared packages (sqlite3, Sequelize, Nest) are resolved from the parent node_modules.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Versions are exact, so that runs are comparable. */
const PACKAGES = {
  'express-crud-router': {
    'express-crud-router': '8.1.0',
    'express-crud-router-sequelize-v6-connector': '2.0.0',
    express: '4.22.3',
  },
  'feathers-sequelize': {
    'feathers-sequelize': '7.0.3',
    '@feathersjs/feathers': '5.0.50',
    '@feathersjs/express': '5.0.50',
  },
  'finale-rest': { 'finale-rest': '1.2.2', express: '4.22.3' },
  'dataui-crud': {
    '@dataui/crud': '5.3.4',
    '@dataui/crud-typeorm': '5.3.4',
    typeorm: '0.3.31',
    'class-transformer': '0.5.1',
    'class-validator': '0.15.1',
  },
} as const

export type Peer = keyof typeof PACKAGES

export const PEERS: readonly Peer[] = ['express-crud-router', 'feathers-sequelize', 'finale-rest', 'dataui-crud']

export function isPeer(name: string): name is Peer {
  return Object.hasOwn(PACKAGES, name)
}

function folderOf(peer: Peer): string {
  return fileURLToPath(new URL(`../../../node_modules/.cache/crud-router-peers/${peer}/`, import.meta.url))
}

function manifestOf(peer: Peer): string {
  return `${JSON.stringify({ private: true, dependencies: PACKAGES[peer] }, null, 2)}\n`
}

/**
 * Whether the packages of a peer are installed in the versions of PACKAGES. npm writes its lock file last, so an
 * installation with a lock file is complete.
 */
export function isInstalled(peer: Peer): boolean {
  const manifest = join(folderOf(peer), 'package.json')
  const isComplete = existsSync(join(folderOf(peer), 'node_modules/.package-lock.json'))
  return isComplete && readFileSync(manifest, 'utf8') === manifestOf(peer)
}

/** Installs the packages of a peer if necessary. @throws Error if npm fails */
export function install(peer: Peer): void {
  if (isInstalled(peer)) return
  const folder = folderOf(peer)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), manifestOf(peer))
  // Peer dependencies are resolved from the parent node_modules.
  const options = ['--prefix', folder, '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...options], { stdio: ['ignore', 'ignore', 'pipe'], timeout: 300_000 })
}

/** Creates a `require` function that resolves the packages of a peer. */
export function packagesOf(peer: Peer): NodeJS.Require {
  return createRequire(join(folderOf(peer), 'package.json'))
}
