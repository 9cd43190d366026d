import type { Field } from '../../types/field.js'
import type { Selecting } from '../../types/intent.js'
import type { Projection } from '../../types/plan.js'
import type { Path } from '../../types/query.js'
import type { Reach } from '../../types/resource.js'
import { countColumn } from '../common/columns.js'
import { type Context, contextAt, suggestion, unknownField } from './context.js'
import { fitCollections, shapeCollections } from './embeds.js'
import { type Destination, fieldsAt, follow } from './path.js'
import { Collection, put, Selection, type Start } from './selection.js'
import type { Place } from './tally.js'

/** Shape of the selected records, and their maximum number. */
interface Selected {
  readonly shape: 'response' | 'list'
  readonly records: number
}

/**
 * Projection of the fields in `select` and of its collections. Masked fields are omitted silently. Other names are unknown fields.
 *
 * @throws Problem `unknown-field`, `invalid-query`
 */
export function selectProjection(
  context: Context,
  { select, shapes, embedTotal = Infinity }: Pick<Selecting, 'select' | 'shapes' | 'embedTotal'>,
  { shape, records }: Selected,
): Projection {
  const selector = new Selector(shape)
  const start: Start = { context, selection: new Selection() }
  for (const path of select ?? []) selector.choose(start, path, path)
  shapeCollections(selector.collections, shapes)
  fitCollections(start.selection, records, Math.min(embedTotal, context.root.resource.limits.embedTotal))
  return start.selection.projection(context.view)
}

type To<K extends Destination['kind']> = Extract<Destination, { kind: K }>

class Selector {
  readonly #shape: Selected['shape']
  /** Collections that paths lead to, by their lower-case paths. */
  readonly collections = new Map<string, Collection>()

  constructor(shape: Selected['shape']) {
    this.#shape = shape
  }

  /** Adds the destination of a path. `path` is the path as `written`, or its remainder behind a collection. */
  choose(from: Start, path: Path, written: Path): void {
    const { context } = from
    const to = follow(context, context.root, path, placeOf(written))
    if (to.kind === 'unknown' || to.kind === 'items') this.#unknown(from, to, written)
    else if (to.kind === 'field') this.#field(from, to, written)
    else if (to.kind === 'collection') this.#collection(from, to, written)
    else this.#every(from, to, written)
  }

  #unknown({ context }: Start, to: Destination, { segments, offset }: Path): void {
    if (context.unknownFields === 'ignore') return
    const hint = suggestion(context, to, segments, (field, reach) => this.#isShown(field, reach))
    throw unknownField('select', segments.join('.'), offset, hint)
  }

  /** Whether records of the resource, or records behind a relation, show a field. */
  #isShown({ targets }: Field, reach: Reach | null): boolean {
    return targets.has(reach === null ? this.#shape : 'list')
  }

  #field(from: Start, to: To<'field'>, written: Path): void {
    const { context, selection } = from
    const { crossings, hops, field, reach, flattened } = to
    if (!this.#isShown(field, flattened === null ? reach : null)) {
      this.#unknown(from, to, written)
      return
    }
    if (!context.view.readable(field, reach)) return
    context.tally.path(context.root, hops, placeOf(written))
    const tree = flattened === null ? selection.at(crossings, hops) : selection.at([], [])
    const json = flattened ?? field.json
    put(tree, selection.memberOf(hops, field, json))
  }

  #every(
    { context, selection }: Start,
    { crossings, hops }: Pick<Destination, 'crossings' | 'hops'>,
    written: Path,
  ): void {
    const { root, tally, view } = context
    tally.path(root, hops, placeOf(written))
    const reach = crossings.at(-1)?.reach ?? root.reach
    const tree = selection.at(crossings, hops)
    for (const field of fieldsAt({ ...root, reach })) {
      const { json } = field
      if (!this.#isShown(field, reach) || !view.readable(field, reach)) continue
      tree.set(json, selection.memberOf(hops, field))
    }
  }

  #collection(from: Start, to: To<'collection'>, written: Path): void {
    const { crossings, hops, word, rest } = to
    if (word === 'count' && rest === null) {
      this.#count(from, to, written)
      return
    }
    const collection = word === null ? this.#collectionAt(from, to, written) : null
    if (collection === null) {
      this.#unknown(from, to, written)
      return
    }
    if (rest === null) this.#every(collection, { crossings: [], hops: [] }, written)
    else this.choose(collection, rest, written)
    // Only masked fields were selected.
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
    context.tally.column(context.root, countColumn(hops, hop), placeOf(written))
    const index = selection.columns.count(hops, hop)
    selection.at(crossings, hops).set(field.json, { kind: 'value', json: field.json, index, field })
  }

  #collectionAt({ context }: Start, to: To<'collection'>, written: Path): Collection | null {
    const { crossings, hops, hop, crossing } = to
    const { owner } = crossing.relation
    if (owner === null) return null
    const names = [...crossings, crossing].map(({ relation }) => relation.json.toLowerCase())
    const path = `${context.prefix}${names.join('.')}`
    const known = this.collections.get(path)
    if (known !== undefined) return known
    context.tally.path(context.root, hops, placeOf(written))
    const own = contextAt(context, to.element, `${path}.`)
    const collection = new Collection({ context: own, crossing, hops, hop, owner })
    this.collections.set(path, collection)
    return collection
  }
}

function placeOf({ offset }: Path): Place {
  return { parameter: 'select', offset }
}
