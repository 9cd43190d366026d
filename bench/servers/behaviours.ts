// Server with the package, and with every optional behaviour on one resource.

import express from 'express'
import { authenticated, crudRouter, identityFromRequest, Operations } from '../../lib/index.js'
import { Employee } from '../models.js'
import { caller } from './caller.js'
import { serve } from './serve.js'

await serve(() => {
  const app = express()
  app.use(caller)
  app.use(
    crudRouter(Employee, {
      operations: Operations.AllWithBulk | Operations.Restore,
      softDelete: true,
      concurrency: true,
      audit: true,
      mask: { salary: 'payroll' },
      identity: identityFromRequest,
      authorizePolicy: authenticated,
      scope: ({ identity }) => ({ tenantId: Number(identity?.claims.tenant) }),
      hooks: { beforeCreate: () => undefined, beforeUpdate: () => undefined },
    }),
  )
  return app
})
