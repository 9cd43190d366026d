// Functions of the host that return a promise, or an object with promises, where the package expects a plain value. The
// request is refused, and a rejection does not end the process.

import test from 'ava'
import { DataTypes } from 'sequelize'
import {
  anyOf,
  type CrudOptions,
  crudRouter,
  hasPermission,
  hasRole,
  type Identity,
  identityFromRequest,
  not,
} from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const reject = (): Promise<never> => Promise.reject(new Error('no answer'))

const identified = { name: 'Ann', roles: new Set<string>(), permissions: new Set<string>(), claims: {} }
const rejectingSet = { has: reject }

/** The options of JavaScript, which TypeScript would refuse. */
interface Case {
  readonly status: number
  readonly options: { readonly [option in keyof CrudOptions]?: unknown }
  readonly user?: unknown
  /** The message of the error that `onError` gets. */
  readonly message?: string
}

const CASES: Readonly<Record<string, Case>> = {
  'a policy that returns an object with promises': {
    status: 403,
    options: { authorizePolicy: () => ({ allowed: reject(), reasons: [reject()] }) },
  },
  'a policy of anyOf': { status: 403, options: { authorizePolicy: anyOf((() => [reject()]) as never) } },
  'a negated policy': { status: 403, options: { authorizePolicy: not((() => ({ isDenied: reject() })) as never) } },
  'permissions whose "has" returns a promise': {
    status: 403,
    options: {
      identity: () => ({ ...identified, permissions: rejectingSet }),
      authorizePolicy: hasPermission('read'),
    },
  },
  'roles whose "has" returns a promise': {
    status: 403,
    options: { identity: () => ({ ...identified, roles: rejectingSet }), authorizePolicy: hasRole('reader') },
  },
  'a mask whose permissions return a promise': {
    status: 200,
    options: { identity: () => ({ ...identified, permissions: rejectingSet }), mask: { title: 'read' } },
  },
  'an identity whose roles are a promise': {
    status: 500,
    options: { identity: () => ({ ...identified, roles: reject() }) },
  },
  'an identity whose claims are a promise': {
    status: 500,
    options: { identity: () => ({ ...identified, claims: reject() }) },
  },
  'a promise as req.user': {
    status: 500,
    options: { identity: identityFromRequest },
    user: reject,
    message: 'req.auth or req.user is a promise. Await it before the routes',
  },
  'serverTiming that returns a promise': { status: 200, options: { serverTiming: () => reject() } },
  'a singleton whose key is an object with promises': {
    status: 500,
    options: { singleton: () => ({ id: reject() }), route: 'api/notes' },
  },
  'a computed field that returns an object with promises': {
    status: 500,
    options: { computed: { length: { type: 'number', resolve: () => ({ length: reject() }) } } },
  },
}

for (const [what, { status, options, user, message }] of Object.entries(CASES)) {
  test.serial(`${what} refuses, and a rejection does not end the process`, async (t) => {
    const unhandled: unknown[] = []
    const reported: unknown[] = []
    const noteUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', noteUnhandled)
    t.teardown(() => process.off('unhandledRejection', noteUnhandled))
    const stage = await openStage(({ sequelize }, app) => {
      const Note = sequelize.define('Note', { title: DataTypes.STRING }, { timestamps: false })
      app.use((request, _, next) => {
        if (typeof user === 'function') Object.assign(request, { user: user() })
        next()
      })
      const identity = (): Identity => identified
      const onError = (error: unknown): void => void reported.push(Object(error).message)
      app.use(crudRouter(Note, { identity, onError, ...options } as CrudOptions))
      return { Note }
    })
    await stage.Note.create({ title: 'secret' })
    const answer = await stage.get('/api/notes')
    await stage.close()
    t.is(answer.status, status)
    t.false(JSON.stringify(answer.body).includes('secret') && 'mask' in options)
    t.is(answer.headers.get('server-timing'), null)
    t.deepEqual(unhandled, [])
    if (message !== undefined) t.deepEqual(reported, [message])
  })
}

test.serial(
  'a translation that is a promise is the English text, and a rejection does not end the process',
  async (t) => {
    const unhandled: unknown[] = []
    const noteUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', noteUnhandled)
    t.teardown(() => process.off('unhandledRejection', noteUnhandled))
    const stage = await openStage(({ sequelize }, app) => {
      const Note = sequelize.define(
        'Note',
        { title: { type: DataTypes.STRING, allowNull: false } },
        { timestamps: false },
      )
      app.use(crudRouter(Note, { messages: reject, onError: () => undefined } as unknown as CrudOptions))
    })
    const { status, body } = await stage.post('/api/notes', {})
    await stage.close()
    t.is(status, 400)
    t.deepEqual(body.errors, { title: ['is required.'] })
    t.deepEqual(unhandled, [])
  },
)
