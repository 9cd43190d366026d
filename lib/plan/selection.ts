import type { ComputingField } from '../../types/computed.js'
import type { Field } from '../../types/field.js'
import type { Embed, Hop, Member, OrderKey, Predicate, Projection } from '../../types/plan.js'
import type { Crossing, View } from '../../types/view.js'
import { computedMember, isComputing } from '../common/columns.js'
import { memberIn } from '../common/members.js'
import type { Context } from './context.js'
import { Columns, indexesOf } from './projection.js'

/** Members by name: values, the records of to-one relations, and collections. */
type Tree = Map<string, Value | Computing | Branch | Collection | Document>

type Value = Extract<Member, { kind: 'value' }>

/** A computed field of the record at the end of the hops. */
interface Computing {
  readonly kind: 'computing'
  readonly field: ComputingField
  readonly hops: readonly Hop[]
  /** Position among the columns. */
  readonly place: number
}

/** Members of a JSON document. */
interface Document {
  readonly kind: 'document'
  readonly tree: Tree
}

interface Branch {
  readonly kind: 'branch'
  readonly tree: Tree
  readonly crossing: Crossing
  readonly hops: readonly Hop[]
}

/** Position of a member between two columns. */
const BETWEEN = 0.5

/** The selected members of one statement's records. */
export class Selection {
  readonly columns: Columns = new Columns()
  readonly #tree: Tree = new Map()

  /** Adds the member of a field to the tree that the hops lead to. Columns that a computed field needs follow the requested columns. */
  memberOf(hops: readonly Hop[], field: Field, json: string = field.json): Value | Computing {
    if (!isComputing(field)) return { kind: 'value', json, index: this.columns.add(hops, field), field }
    return { kind: 'computing', field, hops, place: this.columns.list.length - BETWEEN }
  }

  get isEmpty(): boolean {
    return this.#tree.size === 0
  }

  /** Collections at any depth of the record. */
  get collections(): readonly Collection[] {
    return collectionsIn(this.#tree)
  }

  /** The tree for the members behind the crossings. Without crossings, the tree of the record itself. */
  at(crossings: readonly Crossing[], hops: readonly Hop[]): Tree {
    let tree = this.#tree
    for (const [index, crossing] of crossings.entries()) {
      const { json } = crossing.relation
      const known = tree.get(json)
      const branch: Branch =
        known?.kind === 'branch' ? known : { kind: 'branch', tree: new Map(), crossing, hops: hops.slice(0, index + 1) }
      tree.set(json, branch)
      tree = branch.tree
    }
    return tree
  }

  projection(view: View): Projection {
    return new Assembly(this.columns, view).projection(this.#tree)
  }
}

/** Adds a value to a tree: under its name, or inside its JSON document unless the whole document is selected. */
export function put(tree: Tree, value: Value | Computing): void {
  if (value.kind === 'computing') {
    tree.set(value.field.json, value)
    return
  }
  const member = memberIn(value.field)
  const names = member === null ? [] : [value.json, ...member.path]
  const last = names.pop()
  let at = tree
  for (const name of names) {
    const known = at.get(name)
    if (known?.kind === 'value') return
    const document: Document = known?.kind === 'document' ? known : { kind: 'document', tree: new Map() }
    at.set(name, document)
    at = document.tree
  }
  at.set(last ?? value.json, last === undefined ? value : { ...value, json: last })
}

function collectionsIn(tree: Tree): readonly Collection[] {
  return [...tree.values()].flatMap((member) => {
    if (member.kind === 'collection') return [member]
    return member.kind === 'branch' ? collectionsIn(member.tree) : []
  })
}

/** Start of the paths in `select`: the resource's own records, or the records of a collection. */
export interface Start {
  readonly context: Context
  readonly selection: Selection
}

/** A collection in `select`, with its own selection. */
export class Collection implements Start {
  readonly kind = 'collection'
  readonly selection: Selection = new Selection()
  readonly context: Context
  readonly crossing: Crossing
  /** To-one relations between the record of the outer statement and the owner. */
  readonly hops: readonly Hop[]
  readonly hop: Hop
  /** The owner's field that binds the records to the owner. */
  readonly owner: Field
  where: Predicate | null = null
  order: readonly OrderKey[] = []
  limit = 0
  /** Whether the request states a limit. */
  isStated = false

  constructor(parts: Pick<Collection, 'context' | 'crossing' | 'hops' | 'hop' | 'owner'>) {
    this.context = parts.context
    this.crossing = parts.crossing
    this.hops = parts.hops
    this.hop = parts.hop
    this.owner = parts.owner
  }
}

/** Builds the projection of a statement: its columns by index, and the members from these columns. */
class Assembly {
  readonly #columns: Columns
  readonly #view: View
  readonly #embeds: Embed[] = []
  readonly #shown = new Set<number>()

  constructor(columns: Columns, view: View) {
    this.#columns = columns
    this.#view = view
  }

  projection(tree: Tree): Projection {
    const members = this.#members(tree)
    for (const index of indexesOf(members)) this.#shown.add(index)
    const parts = { columns: this.#columns.list, members, shown: this.#shown }
    return this.#embeds.length === 0 ? parts : { ...parts, embeds: this.#embeds }
  }

  #members(tree: Tree): Member[] {
    return [...tree].map(([json, member]): Member => {
      if (member.kind === 'value') return member
      if (member.kind === 'computing') return this.#computed(member)
      if (member.kind === 'document') return { kind: 'object', json, members: this.#members(member.tree) }
      return member.kind === 'branch' ? this.#nested(json, member) : this.#many(json, member)
    })
  }

  #computed({ field, hops, place }: Computing): Member {
    return computedMember(field, place, (needed) => this.#columns.add(hops, needed))
  }

  #nested(json: string, { crossing: { reach }, hops, tree }: Branch): Member {
    const { presence: field } = reach
    const presence = this.#columns.add(hops, field)
    if (field.targets.has('list') && this.#view.readable(field, reach)) this.#shown.add(presence)
    return { kind: 'nested', json, presence, members: this.#members(tree) }
  }

  #many(json: string, collection: Collection): Member {
    const { hops, hop, owner, where, order, limit, selection, crossing } = collection
    const link = this.#linkOf(collection)
    const index = this.#embeds.push({
      hop,
      owner: this.#columns.add(hops, owner),
      where,
      order,
      limit,
      projection: selection.projection(this.#view),
      identity: crossing.reach.order,
      ...(link === null ? {} : { link }),
    })
    return { kind: 'many', json, index: index - 1 }
  }

  /** Hop to the join model's row of each record in a collection, if a path reads it. */
  #linkOf({ context: { root, tally } }: Collection): Hop | null {
    const { link: relation, reach: from } = root
    const reach = relation?.reach() ?? null
    if (relation === null || reach === null || !tally.hasReached(root, relation)) return null
    return this.#view.cross({ relation, reach, from })
  }
}
