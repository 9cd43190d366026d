import { inBody, keyPath, queryText } from './address.js'
import { jsonOf, type Send } from './send.js'
import { remember } from './tags.js'
import type { CallOptions, Key, Related } from './types.js'

/** Client of a relation below a record's path. `once` adds an idempotency key to creates if the client has the option. */
export function relatedOf<T extends object>(
  path: string,
  send: Send,
  once: (options: CallOptions) => CallOptions,
): Related<T> {
  const record = async (...[call]: Parameters<Send>): Promise<T> => {
    const answer = await send(call)
    const body = jsonOf<T>(answer)
    if (body !== undefined) remember(body, answer.response.headers.get('etag'))
    return body
  }
  const at = (key: Key): string => `${path}/${keyPath(key)}`
  const several = async <R>(method: string, keys: readonly Key[], options: CallOptions = {}): Promise<R> =>
    jsonOf(await send({ method, path, body: keys.map(inBody), ...options }))
  return {
    list: async (parameters = {}, options = {}) =>
      jsonOf(await send({ method: 'GET', path, query: queryText(parameters), ...options })),
    get: (parameters = {}, options = {}) => record({ method: 'GET', path, query: queryText(parameters), ...options }),
    create: (body, options = {}) => record({ method: 'POST', path, body, ...once(options) }),
    link: async (key, body, options = {}) => void (await send({ method: 'PUT', path: at(key), body, ...options })),
    unlink: async (key, options = {}) => void (await send({ method: 'DELETE', path: at(key), ...options })),
    set: (keys, options) => several('PUT', keys, options),
    add: (keys, options) => several('POST', keys, options),
  }
}
