import type { BoundSelect, BoundShape } from '../../types/bound.js'
import type { Selecting, Shape } from '../../types/intent.js'
import { bindFilter, bindSort } from './filter.js'
import { bindPath, type Place } from './path.js'

/** What is selected, with its names looked up; null for whole records. */
export function bindSelect(
  place: Place | null,
  { select, shapes }: Pick<Selecting, 'select' | 'shapes'>,
): BoundSelect | null {
  if (select === null) return null
  return {
    paths: select.map((path) => bindPath(place, path).path),
    shapes: shapes.map((shape) => bindShape(place, shape)),
  }
}

function bindShape(place: Place | null, { path: name, parameter, filter, sort, limit }: Shape): BoundShape {
  const { path, element } = bindPath(place, { segments: name.split('.'), offset: 0 })
  return {
    path: name,
    parameter,
    limit,
    collection: element === null ? null : path,
    filter: filter === null ? null : bindFilter(filter, element),
    order: sort === null ? null : sort.map((node) => bindSort(node, element)),
  }
}
