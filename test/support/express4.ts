// Has `express` be Express 4 for whatever is imported from now on, the package's own import among it.

import { register } from 'node:module'

const hooks = `export const resolve = (name, context, next) => next(name === 'express' ? 'express4' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
