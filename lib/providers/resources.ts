import { segmentOf } from '../client/address.js'
import { type Client, type ClientOptions, resource, type ShapesFor } from '../client/index.js'

export type Row = Readonly<Record<string, unknown>>

/** What a provider has to be told of a resource, where it is not as usual. */
export interface ProviderResource {
  /** Its path below the address of the API. Default: its name. */
  readonly path?: string
  /** The member of records that is their key, or its parts in the model's order. Default `id`. */
  readonly key?: string | readonly string[]
  /** The resource has `query.search`: `q` among filters is sent as `search`. Default false. */
  readonly search?: boolean
  /** The member that shows the version, where `concurrency` has `inBody`. Default `rowVersion`. */
  readonly version?: string
  /** The path of the resource's hub, with the API's own. Default: the resource's path and `/hub`. */
  readonly hub?: string
}

type Shared = 'token' | 'headers' | 'retries' | 'fetch' | 'readYourWrites'

export interface ProviderOptions extends Pick<ClientOptions, Shared> {
  /** By the names that the application has for them. Those that are as usual need not be here. */
  readonly resources?: Readonly<Record<string, ProviderResource>>
}

/** A resource as a provider works with it. */
export interface Resource {
  readonly name: string
  readonly client: Client<ShapesFor<Row>>
  readonly keys: readonly string[]
  readonly version: string
  readonly hasSearch: boolean
}

/** The resources of an API by name, each made once. */
export function resourcesOf(
  apiUrl: string,
  { resources = {}, ...shared }: ProviderOptions,
): (name: string) => Resource {
  const told = new Map(Object.entries(resources))
  const known = new Map<string, Resource>()
  const base = apiUrl.replace(/\/+$/, '')
  return (name) => {
    let found = known.get(name)
    if (found === undefined) {
      segmentOf(name, 'resource')
      const { path = name, key = 'id', search = false, version = 'rowVersion', hub } = told.get(name) ?? {}
      for (const segment of path.split('/').filter(Boolean)) segmentOf(segment, 'resource')
      // The client's types ask for the key where a row's type says another; of these rows nothing is said.
      const options: ClientOptions = { ...shared, key, version, ...(hub === undefined ? {} : { hub }) }
      const client = resource(`${base}/${path.replace(/^\/+/, '')}`, options as object)
      found = { name, client, keys: [key].flat(), version, hasSearch: search }
      known.set(name, found)
    }
    return found
  }
}
