import { keyOf, keyPath } from './address.js'
import { addIdempotencyKey, addIfMatch, isRecord } from './conditionalHeaders.js'
import { rememberTag } from './entityTags.js'
import { resource as operating } from './resource.js'
import { createSend, parseJson } from './send.js'
import type { ActionPlace, ActionShape, ActionShapes, ShapesFor } from './shapes.js'
import type { CallOptions, Client, ClientOptions, Key, OptionsFor } from './types.js'

/** Options of an action call, the last argument of an action's method. */
export interface ActionCallOptions extends CallOptions {
  /** Fields and relations of the records in the response. */
  readonly select?: string | readonly string[]
}

/** Options of a client whose resource has actions, with the location of each action. */
export type ActingOptionsFor<S> = OptionsFor<S> & {
  readonly actions: S extends { readonly actions: infer A extends ActionShapes }
    ? { readonly [name in keyof A]: Pick<A[name], 'on' | 'method'> }
    : Readonly<Record<string, ActionPlace>>
}

type Target<S> =
  | Key
  | (S extends { readonly row: infer R } ? R : never)
  | (S extends { readonly item: infer I } ? I : never)

/** Method of an action. The first argument of a record action is the record or its key. */
type ActionMethod<S, A extends ActionShape> = A['on'] extends 'record'
  ? (record: Target<S>, ...given: InputArgument<A['input']>) => Promise<A['output']>
  : (...given: InputArgument<A['input']>) => Promise<A['output']>

/** Input argument of an action. The argument is optional if the input may be empty. */
type InputArgument<Input> = undefined extends Input
  ? [input?: undefined, options?: ActionCallOptions]
  : object extends Input
    ? [input?: Input, options?: ActionCallOptions]
    : [input: Input, options?: ActionCallOptions]

/** The actions of a resource, by name. */
export type ActionsOf<S> = S extends { readonly actions: infer A extends ActionShapes }
  ? { readonly [name in keyof A]: ActionMethod<S, A[name]> }
  : Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>

/** A client with the actions of its resource. */
export type ActingClient<S> = Client<S> & { readonly actions: ActionsOf<S> }

/**
 * Like `resource` of `sequelize-crud-router/client`, with typed functions for the resource's actions in `actions`. The
 * option `actions` has the location and method of each action. Like `update`, an action of a record sends `If-Match`
 * with the version that was read.
 *
 * @throws TypeError for an address with a query or fragment
 */
export function resource<R = Readonly<Record<string, unknown>>>(
  address: string,
  options: ActingOptionsFor<ShapesFor<R>>,
): ActingClient<ShapesFor<R>> {
  const settings: ClientOptions & ActionPlaces = options
  const client = operating(address, settings as object)
  const keys = [settings.key ?? 'id'].flat()
  const pathOf = (target: unknown): string => `/${keyPath(isRecord(target) ? keyOf(target, keys) : target)}`
  const actions = actionsOf(address.replace(/\/+$/, ''), settings, pathOf)
  return Object.assign(client, { actions }) as unknown as ActingClient<ShapesFor<R>>
}

export interface ActionPlaces {
  readonly actions: Readonly<Record<string, ActionPlace>>
}

type Row = Readonly<Record<string, unknown>>
type RunAction = (...given: readonly unknown[]) => Promise<unknown>

/** The actions of a client. `pathOf` returns the path of a record below the address. */
export function actionsOf(
  address: string,
  settings: ClientOptions & ActionPlaces,
  pathOf: (target: unknown) => string,
): Readonly<Record<string, RunAction>> {
  const send = createSend(address, settings)

  async function run(name: string, { on, method }: ActionPlace, given: readonly unknown[]): Promise<unknown> {
    const [target, ...rest] = on === 'record' ? given : [null, ...given]
    const [input, options = {}] = rest as [unknown, ActionCallOptions?]
    const { select, ...others } = options
    const path = on === 'record' ? pathOf(target) : ''
    const isRead = method === 'get'
    const query = new URLSearchParams()
    if (isRead) for (const [member, value] of Object.entries(Object(input))) addParameter(query, member, value)
    if (select !== undefined) query.set('select', [select].flat().join())
    const answer = await send({
      method: method.toUpperCase(),
      path: `${path}/${kebabCase(name)}`,
      query: query.toString(),
      ...(isRead ? {} : { ...addIfMatch(settings, target, options), ...addIdempotencyKey(settings, options) }),
      ...(isRead || input === undefined ? {} : { body: input }),
      ...others,
    })
    const body = parseJson<Row | undefined>(answer)
    if (typeof body === 'object' && body !== null) rememberTag(body, answer.response.headers.get('etag'))
    return body
  }

  const runners = Object.entries(settings.actions).map(([name, place]): [string, RunAction] => [
    name,
    (...given) => run(name, place, given),
  ])
  return Object.fromEntries(runners)
}

/** Adds a parameter to the query. An array becomes a repeated parameter. */
function addParameter(query: URLSearchParams, name: string, value: unknown): void {
  for (const each of [value].flat()) {
    if (each !== undefined) query.append(name, each instanceof Date ? each.toISOString() : String(each))
  }
}

/** A name in kebab case: `publishNow` becomes `publish-now`. */
function kebabCase(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()
}
