import { bodyKey, keyPath, queryText } from './address.js'
import { rememberTag } from './entityTags.js'
import { parseJson, type Send } from './send.js'
import type { CallOptions, Key, Related } from './types.js'

/**
 * Creates the client of a relation below a record's path. `once` adds an idempotency key to creates, if the client has
 * the option.
 */
export function createRelated<T extends object>(
  path: string,
  send: Send,
  once: (options: CallOptions) => CallOptions,
): Related<T> {
  const sendForRecord = async (...[call]: Parameters<Send>): Promise<T> => {
    const answer = await send(call)
    const body = parseJson<T>(answer)
    if (body !== undefined) rememberTag(body, answer.response.headers.get('etag'))
    return body
  }
  const pathTo = (key: Key): string => `${path}/${keyPath(key)}`
  const sendKeys = async <R>(method: string, keys: readonly Key[], options: CallOptions = {}): Promise<R> =>
    parseJson(await send({ method, path, body: keys.map(bodyKey), ...options }))
  return {
    list: async (parameters = {}, options = {}) =>
      parseJson(await send({ method: 'GET', path, query: queryText(parameters), ...options })),
    get: (parameters = {}, options = {}) =>
      sendForRecord({ method: 'GET', path, query: queryText(parameters), ...options }),
    create: (body, options = {}) => sendForRecord({ method: 'POST', path, body, ...once(options) }),
    link: async (key, body, options = {}) => void (await send({ method: 'PUT', path: pathTo(key), body, ...options })),
    unlink: async (key, options = {}) => void (await send({ method: 'DELETE', path: pathTo(key), ...options })),
    set: (keys, options) => sendKeys('PUT', keys, options),
    add: (keys, options) => sendKeys('POST', keys, options),
  }
}
