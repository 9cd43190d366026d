import type { Field } from '../../types/field.js'
import type { SelectionMembers } from '../../types/intent.js'
import type { Projection } from '../../types/plan.js'
import type { Path } from '../../types/query.js'
import type { ModelAccess } from '../../types/resource.js'
import { countColumn, optionalField } from '../common/columns.js'
import { type Context, createElementContext, createUnknownFieldProblem, suggestField } from './context.js'
import { applyCollectionQueries, limitCollections } from './embeds.js'
import { type Destination, fieldsOfRoot, resolveForCaller } from './path.js'
import type { QueryPosition } from './queryCost.js'
import { addMember, SelectedCollection, SelectedMembers, type SelectStart, setMember } from './selection.js'

/** Shape of the selected records, and their maximum number. */
interface SelectedShape {
  readonly shape: 'response' | 'list'
  readonly maxRecords: number
}

/**
 * Plans the fields and collections in `select`. Omits masked fields silently. Other names are unknown fields.
 * @throws Problem `unknown-field`, `invalid-query`
 */
export function selectProjection(
  context: Context,
  { select, collections, embedTotal = Infinity }: Pick<SelectionMembers, 'select' | 'collections' | 'embedTotal'>,
  { shape, maxRecords }: SelectedShape,
): Projection {
  const selector = new Selector(shape)
  const start: SelectStart = { context, selection: new SelectedMembers() }
  for (const path of select ?? []) selector.add(start, path, path)
  applyCollectionQueries(selector.collections, collections)
  limitCollections(start.selection, maxRecords, Math.min(embedTotal, context.root.resource.limits.embedTotal))
  return { ...start.selection.createProjection(context.view), masked: selector.masked }
}

type DestinationOf<K extends Destination['kind']> = Extract<Destination, { kind: K }>

class Selector {
  readonly #shape: SelectedShape['shape']
  /** Collections at the end of paths, by lower-case path. */
  readonly collections = new Map<string, SelectedCollection>()
  /** The names of fields that are left out because they are masked. */
  readonly masked: string[] = []

  constructor(shape: SelectedShape['shape']) {
    this.#shape = shape
  }

  /** Adds the member at the end of a path. `path` is the path as `written`, or its part behind a collection. */
  add(from: SelectStart, path: Path, written: Path): void {
    const { context } = from
    const to = resolveForCaller(context, context.root, path, selectPosition(written))
    if (to.kind === 'unknown' || to.kind === 'items') this.#handleUnknown(from, to, written)
    else if (to.kind === 'field') this.#addField(from, to, written)
    else if (to.kind === 'collection') this.#addCollection(from, to, written)
    else this.#addEvery(from, to, written)
  }

  #handleUnknown({ context }: SelectStart, to: Destination, { segments, offset }: Path): void {
    if (context.unknownFields === 'ignore') return
    const hint = suggestField(context, to, segments, (field, access) => this.#isInShape(field, access))
    throw createUnknownFieldProblem('select', segments.join('.'), offset, hint)
  }

  /** Whether a response contains a field, in records of the resource or behind a relation. */
  #isInShape({ targets }: Field, access: ModelAccess | null): boolean {
    return targets.has(access === null ? this.#shape : 'list')
  }

  #addField(from: SelectStart, to: DestinationOf<'field'>, written: Path): void {
    const { context, selection } = from
    const { steps, joins, field, access, flattened } = to
    if (!this.#isInShape(field, flattened === null ? access : null)) {
      this.#handleUnknown(from, to, written)
      return
    }
    if (!context.view.readable(field, access)) {
      this.masked.push(field.json)
      return
    }
    context.queryCost.addPath(context.root, joins, selectPosition(written))
    const tree = flattened === null ? selection.membersAt(steps, joins) : selection.membersAt([], [])
    const json = flattened ?? field.json
    const member = selection.createMember(joins, field, json)
    const isFlattened = flattened !== null && member.kind === 'value'
    addMember(tree, isFlattened ? { ...member, field: optionalField(member.field) } : member)
  }

  #addEvery(
    { context, selection }: SelectStart,
    { steps, joins }: Pick<Destination, 'steps' | 'joins'>,
    written: Path,
  ): void {
    const { root, queryCost, view } = context
    queryCost.addPath(root, joins, selectPosition(written))
    const access = steps.at(-1)?.access ?? root.access
    const tree = selection.membersAt(steps, joins)
    for (const field of fieldsOfRoot({ ...root, access })) {
      const { json } = field
      if (!this.#isInShape(field, access)) continue
      if (view.readable(field, access)) setMember(tree, json, selection.createMember(joins, field))
      else this.masked.push(json)
    }
  }

  #addCollection(from: SelectStart, to: DestinationOf<'collection'>, written: Path): void {
    const { steps, joins, word, rest, names } = to
    if (word === 'count' && rest === null) {
      this.#addCount(from, to, written)
      return
    }
    const collection = this.#findCollection(from, to, written)
    if (collection === null) {
      this.#handleUnknown(from, to, written)
      return
    }
    if (names === null) this.#addEvery(collection, { steps: [], joins: [] }, written)
    else this.add(collection, names, written)
    // All selected fields of the collection are masked or unknown, so the collection is omitted too.
    if (names !== null && collection.selection.isEmpty) return
    from.selection.membersAt(steps, joins).set(to.step.relation.json, collection)
  }

  #addCount(from: SelectStart, to: DestinationOf<'collection'>, written: Path): void {
    const { context, selection } = from
    const { steps, joins, join } = to
    const { count: field, isCountTaken } = to.step.relation
    if (isCountTaken) {
      this.#handleUnknown(from, to, written)
      return
    }
    context.queryCost.addColumn(context.root, countColumn(joins, join), selectPosition(written))
    setMember(selection.membersAt(steps, joins), field.json, selection.createCount(joins, join, field))
  }

  #findCollection({ context }: SelectStart, to: DestinationOf<'collection'>, written: Path): SelectedCollection | null {
    const { steps, joins, join, step } = to
    const { sourceKey } = step.relation
    if (sourceKey === null) return null
    const names = [...steps, step].map(({ relation }) => relation.json.toLowerCase())
    const path = `${context.prefix}${names.join('.')}`
    const known = this.collections.get(path)
    if (known !== undefined) return known
    context.queryCost.addPath(context.root, joins, selectPosition(written))
    const own = createElementContext(context, to.element, `${path}.`)
    const collection = new SelectedCollection({ context: own, step, joins, join, parentKey: sourceKey })
    this.collections.set(path, collection)
    return collection
  }
}

function selectPosition({ offset }: Path): QueryPosition {
  return { parameter: 'select', offset }
}
