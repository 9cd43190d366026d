import type { Field } from '../../types/field.js'
import type { Shape } from '../../types/intent.js'
import type { Projection } from '../../types/plan.js'
import type { Path } from '../../types/query.js'
import type { Reach, Resource } from '../../types/resource.js'
import { countColumn } from '../common/columns.js'
import { type Context, contextAt, suggestion, unknownField } from './context.js'
import { fitCollections, shapeCollections } from './embeds.js'
import { type Destination, follow } from './path.js'
import { Collection, listed, put, Selection, type Start } from './selection.js'
import type { Place } from './tally.js'

/** Whose records are selected from, in which of their shapes, and how many there are at the most. */
export interface Selected {
  readonly resource: Resource
  readonly shape: 'response' | 'list'
  readonly records: number
  /** The most records of collections, where that is less than the resource's limit. */
  readonly embedTotal?: number | undefined
}

/**
 * Only what `select` names, with the collections in it as they are to be shaped. What is masked for the caller is left
 * out silently; the rest is an unknown field.
 *
 * @throws Problem `unknown-field`, `invalid-query`
 */
export function selectProjection(
  { resource, shape, records, embedTotal = resource.limits.embedTotal }: Selected,
  context: Context,
  { select, shapes }: { readonly select: readonly Path[]; readonly shapes: readonly Shape[] },
): Projection {
  const selector = new Selector(shape)
  const fields = resource.fields.filter(({ targets }) => targets.has(shape))
  const start: Start = { context, selection: new Selection(), fields, reach: null }
  for (const path of select) selector.choose(start, path, path)
  shapeCollections(selector.collections, shapes)
  fitCollections(start.selection, records, Math.min(embedTotal, resource.limits.embedTotal))
  return start.selection.projection(context.view)
}

type To<K extends Destination['kind']> = Extract<Destination, { kind: K }>

class Selector {
  readonly #shape: Selected['shape']
  /** The collections that a path has led to, by path in lower case. */
  readonly collections = new Map<string, Collection>()

  constructor(shape: Selected['shape']) {
    this.#shape = shape
  }

  /** `path` is the path as `written`, or the rest of it behind a collection. */
  choose(from: Start, path: Path, written: Path): void {
    const { context } = from
    const place: Place = { parameter: 'select', offset: written.offset }
    const to = follow(context, context.root, path, place)
    if (to.kind === 'unknown') this.#unknown(from, to, written)
    else if (to.kind === 'field') this.#field(from, to, written)
    else if (to.kind === 'collection') this.#collection(from, to, written)
    else this.#every(from, to, place)
  }

  #unknown({ context }: Start, to: Destination, { segments, offset }: Path): void {
    if (context.unknownFields === 'ignore') return
    const isUsable = ({ targets }: Field, reach: Reach | null): boolean =>
      targets.has(reach === null ? this.#shape : 'list')
    throw unknownField('select', segments.join('.'), offset, suggestion(context, to, segments, isUsable))
  }

  #field(from: Start, to: To<'field'>, written: Path): void {
    const { context, selection } = from
    const { crossings, hops, field, reach, flattened } = to
    const shape = reach === null || flattened !== null ? this.#shape : 'list'
    if (!field.targets.has(shape)) {
      this.#unknown(from, to, written)
      return
    }
    if (!context.view.readable(field, reach)) return
    context.tally.path(context.root, hops, { parameter: 'select', offset: written.offset })
    const tree = flattened === null ? selection.at(crossings, hops) : selection.at([], [])
    const json = flattened ?? field.json
    put(tree, { kind: 'value', json, index: selection.columns.add(hops, field), field })
  }

  #every(from: Start, { crossings, hops }: Pick<Destination, 'crossings' | 'hops'>, place: Place): void {
    const { context, selection } = from
    context.tally.path(context.root, hops, place)
    const behind = crossings.at(-1)?.reach
    const [fields, reach] = behind === undefined ? [from.fields, from.reach] : [listed(behind), behind]
    const tree = selection.at(crossings, hops)
    for (const field of fields) {
      const { json } = field
      if (!context.view.readable(field, reach)) continue
      tree.set(json, { kind: 'value', json, index: selection.columns.add(hops, field), field })
    }
  }

  #collection(from: Start, to: To<'collection'>, written: Path): void {
    const { crossings, hops, word, rest } = to
    if (word === 'count' && rest === null) {
      this.#count(from, to, written)
      return
    }
    const place: Place = { parameter: 'select', offset: written.offset }
    const collection = word === null ? this.#collectionAt(from, to, place) : null
    if (collection === null) {
      this.#unknown(from, to, written)
      return
    }
    if (rest === null) this.#every(collection, { crossings: [], hops: [] }, place)
    else this.choose(collection, rest, written)
    // Where nothing but what is masked for the caller was asked for, there is nothing to show.
    if (rest !== null && collection.selection.isEmpty) return
    from.selection.at(crossings, hops).set(to.crossing.relation.json, collection)
  }

  #count(from: Start, to: To<'collection'>, written: Path): void {
    const { context, selection } = from
    const { crossings, hops, hop } = to
    const { count: field, isCountTaken } = to.crossing.relation
    if (isCountTaken) {
      this.#unknown(from, to, written)
      return
    }
    context.tally.column(context.root, countColumn(hops, hop), { parameter: 'select', offset: written.offset })
    const index = selection.columns.count(hops, hop)
    selection.at(crossings, hops).set(field.json, { kind: 'value', json: field.json, index, field })
  }

  #collectionAt(from: Start, to: To<'collection'>, place: Place): Collection | null {
    const { crossings, hops, hop, crossing } = to
    const { owner } = crossing.relation
    if (owner === null) return null
    const { context } = from
    const names = [...crossings, crossing].map(({ relation }) => relation.json.toLowerCase())
    const path = `${context.prefix}${names.join('.')}`
    const known = this.collections.get(path)
    if (known !== undefined) return known
    context.tally.path(context.root, hops, place)
    const own = contextAt(context, to.element, `${path}.`)
    const collection = new Collection({ context: own, crossing, hops, hop, owner })
    this.collections.set(path, collection)
    return collection
  }
}
