import type { Call } from '../../types/call.js'
import type { Reply } from '../../types/reply.js'
import { problem } from '../common/problem.js'
import type { PathMethod } from '../operations.js'
import { MEDIA_TYPES } from './body.js'
import { ACCEPT_QUERY } from './queryMethod.js'

/** Returns the HTTP names of methods. GET includes HEAD. */
export function methodNames(methods: readonly PathMethod[]): readonly string[] {
  return methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
}

/** Returns the reply to OPTIONS on a path with these methods. @throws Problem 405 for any other method */
export function optionsReply({ method }: Call, methods: readonly PathMethod[]): Reply {
  const allow = [...methodNames(methods), 'OPTIONS'].join(', ')
  const headers = {
    Allow: allow,
    ...(methods.includes('patch') ? { 'Accept-Patch': MEDIA_TYPES.join(', ') } : {}),
    ...(methods.includes('query') ? { 'Accept-Query': ACCEPT_QUERY } : {}),
  }
  if (method === 'OPTIONS') return { status: 204, headers, content: { kind: 'nothing' } }
  throw problem('method-not-allowed', {
    detail: `This path does not support ${method}. It supports ${allow}.`,
    headers,
  })
}
