// Later imports of `express`, including imports by the package, load Express 4.

import { register } from 'node:module'

const hooks = `export const resolve = (name, context, next) => next(name === 'express' ? 'express4' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
