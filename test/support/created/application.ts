// Creates applications with `npm create`, in a folder whose packages are the packed tarballs.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { consumer, dependencies, node, type Outcome, pack, root, type Tarball } from '../consumer.js'

/** A folder of created applications that share their installed packages. */
export interface Applications {
  readonly folder: string
  readonly create: (name: string, ...options: readonly string[]) => Promise<Outcome>
  readonly remove: () => Promise<void>
}

const PACKAGES = [
  ...[
    'express',
    'mariadb',
    'mysql2',
    'pg',
    'pg-hstore',
    'sequelize',
    'socket.io',
    'socket.io-client',
    'sqlite3',
    'typescript',
  ],
  ...['@modelcontextprotocol', '@types/express', '@types/jsonwebtoken', '@types/node'],
]

export async function openApplications(): Promise<Applications> {
  const [router, creator] = await Promise.all([pack(), pack(join(root, '.packages/create'))])
  const names = [...(await dependencies()), ...PACKAGES].filter((name) => existsSync(join(root, 'node_modules', name)))
  const folder = await consumer(router, 'applications', Object.fromEntries(names.map((name) => [name, name])), {})
  const program = join(await consumer(creator, 'creator', {}, {}, 'create'), 'node_modules/create/create.js')
  return {
    folder,
    create: (name, ...options) => node(folder, program, name, '--no-install', '--yes', ...options),
    remove: async () => {
      await Promise.all([router, creator].map((tarball: Tarball) => tarball.remove()))
    },
  }
}
