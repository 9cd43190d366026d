import { DataTypes } from 'sequelize'
import type { ServerOptions } from 'socket.io'
import {
  type CrudOptions,
  type CrudRouter,
  crudRouter,
  type Identity,
  Operations,
  type Scope,
} from '../../lib/index.js'
import { openPush, type PushStage, type Subscriber } from './push.js'
import { bearer, identity } from './tokens.js'

/** Attributes of a note that callers may see only with a permission of that name. */
export const SECRETS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'] as const

/** Headers of a caller who may see all members of a note, and all authors. */
export const root = bearer({ permissions: [...SECRETS] })

/**
 * Push hubs of two resources. Records of authors are flattened into notes. Callers see the authors of their own scope
 * (`claims.owner`), so that each caller receives a separate payload. Posts of tenants (`claims.tenant`) appear in no
 * response.
 */
export interface Crowded extends PushStage {
  readonly notes: CrudRouter
  readonly posts: CrudRouter
  /** Errors reported to `onError`. */
  readonly errors: unknown[]
}

/** Opens the hubs. Note 1 belongs to the author whose owner is 7. */
export async function openCrowded(options: Partial<ServerOptions> = {}): Promise<Crowded> {
  let notes!: CrudRouter
  let posts!: CrudRouter
  const errors: unknown[] = []
  const stage = await openPush(({ sequelize }, app, io) => {
    const plain = { timestamps: false }
    const common: CrudOptions = {
      identity,
      operations: Operations.AllWithBulk,
      onError: (error) => errors.push(error),
    }
    const Author = sequelize.define('Author', { name: DataTypes.STRING, owner: DataTypes.INTEGER }, plain)
    const secrets = Object.fromEntries(SECRETS.map((name) => [name, DataTypes.STRING(10)]))
    const Note = sequelize.define('Note', { text: DataTypes.STRING, ...secrets }, plain)
    Note.belongsTo(Author, { as: 'author', foreignKey: 'authorId' })
    const Post = sequelize.define('Post', { text: DataTypes.STRING, tenant: DataTypes.INTEGER }, plain)
    app.use(crudRouter(Author, { ...common, scope: ({ identity: caller }) => scopeBy('owner', caller) }))
    notes = crudRouter(Note, {
      ...common,
      push: { io },
      flatten: ['author'],
      mask: Object.fromEntries(SECRETS.map((name) => [name, name])),
    })
    posts = crudRouter(Post, {
      ...common,
      push: { io },
      fields: { tenant: { exclude: true } },
      scope: ({ identity: caller }) => scopeBy('tenant', caller),
    })
    app.use(notes)
    app.use(posts)
  }, options)
  await stage.sequelize.model('Author').bulkCreate(Array.from({ length: 8 }, (_, owner) => ({ name: 'x', owner })))
  await stage.sequelize.model('Note').bulkCreate([{ text: 'x', authorId: 8 }])
  return { ...stage, notes, posts, errors }
}

function scopeBy(name: string, caller: Identity | null): Scope | null {
  const value: unknown = caller?.claims[name]
  return typeof value === 'number' ? { [name]: value } : null
}

/** Number of statements that one PATCH and its push events execute. */
export async function costOfPatch(crowd: Crowded, witness: Subscriber): Promise<number> {
  await crowd.drain(crowd.notes, witness)
  const before = crowd.statements.length
  await crowd.patch('/api/notes/1', { text: `at ${before}` }, root)
  await crowd.drain(crowd.notes, witness)
  return crowd.statements.length - before
}
