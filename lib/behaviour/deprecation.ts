import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Deprecated, Deprecation } from '../../types/deprecated.js'
import { DEPRECATED, readDeprecation } from '../config/deprecated.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Announces the deprecation of the resource, in headers of every reply and in documents. Default: false. */
    readonly deprecated?: false | Deprecated
  }
}

/** Adds `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` to the page for developers to every reply. */
export const deprecation: BehaviourDefinition = {
  options: { deprecated: DEPRECATED },
  isRouteOnly: true,
  prepare: ({ model }, { deprecated }) => {
    const found = readDeprecation(`${model.name}: deprecated`, deprecated)
    if (found === null) return null
    return { documented: { deprecated: found }, behaviour: () => ({ ownHeaders: createDeprecationHeaders(found) }) }
  },
}

function createDeprecationHeaders({ since, sunset, link }: Deprecation): Readonly<Record<string, string>> {
  const relation = sunset === null ? 'deprecation' : 'deprecation sunset'
  return {
    Deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    ...(sunset === null ? {} : { Sunset: sunset.toUTCString() }),
    ...(link === null ? {} : { Link: `<${link}>; rel="${relation}"; type="text/html"` }),
  }
}
