import { toSegment } from '../client/address.js'
import { type Client, type ClientOptions, resource, type ShapesFor } from '../client/index.js'
import type { Messages } from './messages.js'

export type Row = Readonly<Record<string, unknown>>

/** Settings of a resource that does not use the defaults. */
export interface ProviderResource {
  /** Path below the address of the API. Default: the resource's name. */
  readonly path?: string
  /** Name of the key member, or names of the key's parts in the model's order. Default: `id`. */
  readonly key?: string | readonly string[]
  /** Whether the resource has `query.search`. If true, the filter `q` is sent as `search`. Default: false. */
  readonly search?: boolean
  /** Name of the version member, for `concurrency` with `inBody`. Default: `rowVersion`. */
  readonly version?: string
  /** Path of the resource's push hub, including the path of the API. Default: the resource's path followed by `/hub`. */
  readonly hub?: string
}

type SharedOption = 'token' | 'headers' | 'retries' | 'fetch' | 'readYourWrites'

export interface ProviderOptions extends Pick<ClientOptions, SharedOption> {
  /**
   * Error messages for users, by problem code. In react-admin, a message may be a key of its translations. Default: one
   * message, for `precondition-failed`. Other problems have the server's texts.
   */
  readonly messages?: Messages
  /** Settings by the application's resource names. Resources with default settings may be left out. */
  readonly resources?: Readonly<Record<string, ProviderResource>>
}

/** A resource of the service, with its client. */
export interface ClientResource {
  readonly name: string
  readonly client: Client<ShapesFor<Row>>
  readonly keys: readonly string[]
  readonly version: string
  readonly hasSearch: boolean
}

/** Returns a function that finds a resource by name. Each resource is created once. */
export function createResourceFinder(
  apiUrl: string,
  { resources = {}, ...shared }: ProviderOptions,
): (name: string) => ClientResource {
  const given = new Map(Object.entries(resources))
  const known = new Map<string, ClientResource>()
  const base = apiUrl.replace(/\/+$/, '')
  return (name) => {
    let found = known.get(name)
    if (found === undefined) {
      toSegment(name, 'resource')
      const { path = name, key = 'id', search = false, version = 'rowVersion', hub } = given.get(name) ?? {}
      for (const segment of path.split('/').filter(Boolean)) toSegment(segment, 'resource')
      // The type of the client's options may require `key`, because the names of a `Row`'s members are unknown.
      const options: ClientOptions = { ...shared, key, version, ...(hub === undefined ? {} : { hub }) }
      const client = resource(`${base}/${path.replace(/^\/+/, '')}`, options as object)
      found = { name, client, keys: [key].flat(), version, hasSearch: search }
      known.set(name, found)
    }
    return found
  }
}
