// A program that serves the Model Context Protocol to agents over standard input and output.

import { DataTypes } from 'sequelize'
import { crudRouter, hasRole } from '../../lib/index.js'
import { crudMcp } from '../../lib/mcp/index.js'
import { openDatabase } from './database.js'
import { identity } from './tokens.js'

const { sequelize, close } = await openDatabase()
const Note = sequelize.define('Note', { text: DataTypes.STRING, author: DataTypes.STRING }, { timestamps: false })
await sequelize.sync()

const notes = crudRouter(Note, {
  identity,
  authorizePolicy: hasRole('operator'),
  use: (req, _res, next) => {
    // Middleware of Express may use these members of a request.
    if (req.get('authorization') !== undefined || req.query.none !== undefined)
      throw new TypeError('nobody has sent this')
    next()
  },
  hooks: {
    beforeCreate: ({ instance, identity: caller }) => {
      instance.set('author', caller?.name ?? null)
    },
  },
})
const operator = { name: 'the operator', roles: new Set(['operator']), permissions: new Set<string>(), claims: {} }
crudMcp({ resources: [notes], identity: operator, write: true }).connect()

process.stdin.once('close', () => {
  close().catch(() => undefined)
})
