import express, { type Express } from 'express'
import {
  anyOf,
  apiDocs,
  authenticated,
  createCrud,
  type Hook,
  hasRole,
  Operations,
  Problem,
  problemHandler,
  type ScopeFunction,
} from 'sequelize-crud-router'
import { login } from './login.js'
import { Employee, findUser } from './models.js'
import type { Tokens } from './tokens.js'

/** Limits callers to the records of their own tenant. */
const ownTenant: ScopeFunction = ({ identity }) => {
  const tenant = identity?.claims.tenant
  if (typeof tenant !== 'string') throw new Problem({ status: 403, detail: 'The token names no tenant.' })
  return { tenant }
}

/** Rejects changes of the caller's own salary. The hook runs in the transaction of every PATCH. */
const notOneself: Hook = ({ instance, identity }) => {
  const isOwn = instance instanceof Employee && instance.username !== null && instance.username === identity?.name
  if (isOwn && instance.changed('salary')) throw new Problem({ status: 403, detail: 'Nobody sets their own salary.' })
}

/** Creates an Express application with a login and one resource: /api/employees. */
export function secured(tokens: Tokens): Express {
  const app = express().disable('x-powered-by')
  const { crudRouter } = createCrud({
    identity: tokens.identity,
    policies: {
      staff: authenticated,
      managers: anyOf(hasRole('manager'), hasRole('admin')),
      admins: hasRole('admin'),
    },
  })

  app.use(login({ find: findUser, sign: tokens.sign }))
  const employees = crudRouter(Employee, {
    operations: Operations.AllWithBulk + Operations.Restore,
    fields: { username: { exclude: 'update' } },

    authorizePolicy: 'staff',
    createPolicy: 'managers',
    updatePolicy: 'managers',
    deletePolicy: 'admins',
    includeDeletedPolicy: 'admins',
    restorePolicy: 'admins',
    scope: ownTenant,
    mask: { salary: { read: 'salary:read', write: 'salary:write' } },

    softDelete: true,
    concurrency: true,
    audit: true,
    hooks: { beforeUpdate: notOneself },
  })
  app.use(employees)

  // The API documents are public. Only the records are secret.
  app.use(apiDocs({ resources: [employees], info: { title: 'Employees', version: '1.0.0' } }))

  // Requests without a route, and errors of the login, get responses in the format of the resource.
  app.use(() => {
    throw new Problem({ status: 404 })
  })
  app.use(problemHandler())
  return app
}
