import { type ActionPlaces, type ActionsOf, actionsOf } from './actionClient.js'
import { queryText, toSegment } from './address.js'
import { addIdempotencyKey, addIfMatch } from './conditionalHeaders.js'
import { rememberTag } from './entityTags.js'
import { createRelated } from './related.js'
import { createSend, parseJson, type Send } from './send.js'
import type { ActionPlace, ActionShapes, ShapesFor } from './shapes.js'
import type { CallOptions, ClientOptions, CreateBody, PatchBody, Related, ReplaceBody, Row } from './types.js'

/** Options of the client of a singleton. `actions` has the location of each action, if the resource has actions. */
export type SingletonOptionsFor<S> = Omit<ClientOptions, 'key' | 'versions' | 'hub'> &
  (S extends { readonly versions: true } ? { readonly versions: true } : { readonly versions?: boolean }) &
  (S extends { readonly actions: infer A extends ActionShapes }
    ? { readonly actions?: { readonly [name in keyof A]: Pick<A[name], 'on' | 'method'> } }
    : { readonly actions?: Readonly<Record<string, ActionPlace>> })

/**
 * Client of a singleton, the caller's only record. Writes take the record that was read and send its version as
 * `If-Match`. Without versions, they take null.
 */
export interface SingletonClient<S> {
  /** Rejects with a `ProblemError` of status 404 for a caller without a record. */
  get(parameters?: { readonly select?: string | readonly string[] }, options?: CallOptions): Promise<Row<S>>
  create(body: CreateBody<S>, options?: CallOptions): Promise<Row<S>>
  update(record: Row<S> | null, body: PatchBody<S>, options?: CallOptions): Promise<Row<S>>
  replace(record: Row<S> | null, body: ReplaceBody<S>, options?: CallOptions): Promise<Row<S>>
  delete(record: Row<S> | null, options?: CallOptions): Promise<void>
  /** Restores a record that was deleted softly. */
  restore(options?: CallOptions): Promise<Row<S>>
  related<T extends object = Readonly<Record<string, unknown>>>(relation: string): Related<T>
  /**
   * Actions of the singleton. The first argument of an action is the record or null: `me.actions.promote(record,
   * input)`.
   */
  readonly actions: ActionsOf<S>
}

type Call = Parameters<Send>[0]
type Members = Readonly<Record<string, unknown>>

/**
 * Creates the client of a singleton at an address such as `/api/me`. The client has no keys and no lists. Types come
 * from a router or from `clientTypes`, as for `resource`.
 *
 * @throws TypeError for an address with a query or fragment
 */
export function singleton<R = Members>(
  address: string,
  options?: SingletonOptionsFor<ShapesFor<R>>,
): SingletonClient<ShapesFor<R>> {
  if (/[?#]/.test(address)) throw new TypeError(`The address must not have a query or fragment: ${address}`)
  const settings: ClientOptions & Partial<ActionPlaces> = options ?? {}
  const base = address.replace(/\/+$/, '')
  const send = createSend(base, settings)

  async function sendForRecord(call: Partial<Call> & Pick<Call, 'method'>): Promise<Members> {
    const answer = await send({ path: '', ...call })
    const body = parseJson<Members | undefined>(answer)
    if (body === undefined) return {}
    rememberTag(body, answer.response.headers.get('etag'))
    return body
  }

  async function write(method: string, target: unknown, body: object, given: CallOptions): Promise<Members> {
    return sendForRecord({ method, ...body, ...addIfMatch(settings, target, given), ...given })
  }

  const client = {
    get: (parameters: Members = {}, given: CallOptions = {}) =>
      sendForRecord({ method: 'GET', query: queryText(parameters), ...given }),
    create: (body: unknown, given: CallOptions = {}) =>
      sendForRecord({ method: 'POST', body, ...addIdempotencyKey(settings, given), ...given }),
    update: (target: unknown, body: unknown, given: CallOptions = {}) => write('PATCH', target, { body }, given),
    replace: (target: unknown, body: unknown, given: CallOptions = {}) => write('PUT', target, { body }, given),
    delete: async (target: unknown, given: CallOptions = {}) => void (await write('DELETE', target, {}, given)),
    restore: (given: CallOptions = {}) => sendForRecord({ method: 'POST', path: '/restore', ...given }),
    related: (relation: string) =>
      createRelated(`/${toSegment(relation, 'relation')}`, send, (given) => ({
        ...addIdempotencyKey(settings, given),
        ...given,
      })),
    actions: actionsOf(base, { ...settings, actions: settings.actions ?? {} }, () => ''),
  }
  return client as unknown as SingletonClient<ShapesFor<R>>
}
