// Replaces `express` by Express 4 in later imports, including imports of the package.

import { register } from 'node:module'

const hooks = `export const resolve = (name, context, next) => next(name === 'express' ? 'express4' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
