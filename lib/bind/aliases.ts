import type { Crossing, FieldPath, Flattened } from '../../types/bound.js'
import type { Resource } from '../../types/resource.js'
import { flattenedOf } from './flatten.js'

/** Paths by the one name that they have in records as well, in lower case. */
export type Aliases = ReadonlyMap<string, Alias>

type Alias = Pick<FieldPath, 'crossings' | 'field' | 'reach' | 'flattened'>

export const NONE: Aliases = new Map()

const kept = new WeakMap<readonly Flattened[], Aliases>()

/** What is flattened into the records of a resource: `teamName` is another name of `Team.Name`, unless a field has it. */
export function aliasesOf(resource: Resource): Aliases {
  const flattened = flattenedOf(resource)
  if (flattened.length === 0) return NONE
  const known = kept.get(flattened)
  if (known !== undefined) return known
  const aliases = new Map<string, Alias>()
  for (const [json, alias] of below(flattened, [])) {
    const name = json.toLowerCase()
    if (!resource.byName.has(name) && !aliases.has(name)) aliases.set(name, alias)
  }
  kept.set(flattened, aliases)
  return aliases
}

function below(flattened: readonly Flattened[], before: readonly Crossing[]): readonly (readonly [string, Alias])[] {
  return flattened.flatMap(({ crossing, members: { response, list }, deeper }) => {
    const crossings = [...before, crossing]
    const { reach } = crossing
    const own = [...list, ...response].map(
      ({ json, field }) => [json, { crossings, field, reach, flattened: json }] as const,
    )
    return [...own, ...below(deeper, crossings)]
  })
}
