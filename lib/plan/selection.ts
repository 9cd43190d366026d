import type { CompiledComputedField } from '../../types/computed.js'
import type { Field } from '../../types/field.js'
import type { Embed, Join, Member, OrderKey, Predicate, Projection } from '../../types/plan.js'
import type { RelationStep, View } from '../../types/view.js'
import { createComputedMember, isComputedField } from '../common/columns.js'
import { jsonMemberOf } from '../common/jsonMembers.js'
import type { Context } from './context.js'
import { ColumnList, columnIndexesOf } from './projection.js'

/** Members by name: values, the records of to-one relations, and collections. */
type MembersByName = Map<string, ValueMember | PlannedComputed | RelationMember | SelectedCollection | DocumentMember>

type ValueMember = Extract<Member, { kind: 'value' }>

/** Computed field of the record at the end of the joins. */
interface PlannedComputed {
  readonly kind: 'computing'
  readonly field: CompiledComputedField
  readonly joins: readonly Join[]
  /** Position in `select`. */
  readonly position: number
}

/** Members of a JSON document. */
interface DocumentMember {
  readonly kind: 'document'
  readonly tree: MembersByName
}

interface RelationMember {
  readonly kind: 'branch'
  readonly tree: MembersByName
  readonly step: RelationStep
  readonly joins: readonly Join[]
}

/** Selected members of one statement's records. */
export class SelectedMembers {
  readonly columns: ColumnList = new ColumnList()
  readonly #tree: MembersByName = new Map()
  #count = 0

  /**
   * Creates the member of a field. Adds the column of a stored field. Columns that a computed field needs are added
   * later, after the requested columns.
   */
  createMember(joins: readonly Join[], field: Field, json: string = field.json): ValueMember | PlannedComputed {
    const place = this.#count++
    if (isComputedField(field)) return { kind: 'computing', field, joins, position: place }
    return { kind: 'value', json, index: this.columns.add(joins, field), field, place }
  }

  createCount(joins: readonly Join[], counted: Join, field: Field): ValueMember {
    const index = this.columns.addCount(joins, counted)
    return { kind: 'value', json: field.json, index, field, place: this.#count++ }
  }

  get isEmpty(): boolean {
    return this.#tree.size === 0
  }

  /** Returns the collections at any depth of the record. */
  get collections(): readonly SelectedCollection[] {
    return collectionsIn(this.#tree)
  }

  /** Returns the tree for the members behind `steps`. Without steps, this is the tree of the record itself. */
  membersAt(steps: readonly RelationStep[], joins: readonly Join[]): MembersByName {
    let tree = this.#tree
    for (const [index, step] of steps.entries()) {
      const { json } = step.relation
      const known = tree.get(json)
      const branch: RelationMember =
        known?.kind === 'branch' ? known : { kind: 'branch', tree: new Map(), step, joins: joins.slice(0, index + 1) }
      tree.set(json, branch)
      tree = branch.tree
    }
    return tree
  }

  createProjection(view: View): Projection {
    return new ProjectionBuilder(this.columns, view).build(this.#tree)
  }
}

/**
 * Adds a value to a tree: under its name, or inside its JSON document. If the whole document is selected, the value is
 * not added again.
 */
export function addMember(tree: MembersByName, value: ValueMember | PlannedComputed): void {
  if (value.kind === 'computing') {
    setMember(tree, value.field.json, value)
    return
  }
  const member = jsonMemberOf(value.field)
  const names = member === null ? [] : [value.json, ...member.path]
  const last = names.pop()
  let at = tree
  for (const name of names) {
    const known = at.get(name)
    if (known?.kind === 'value') return
    const document: DocumentMember = known?.kind === 'document' ? known : { kind: 'document', tree: new Map() }
    at.set(name, document)
    at = document.tree
  }
  setMember(at, last ?? value.json, last === undefined ? value : { ...value, json: last })
}

/** Adds a member. A member that is selected twice keeps its first position. */
export function setMember(tree: MembersByName, json: string, member: ValueMember | PlannedComputed): void {
  if (tree.get(json)?.kind !== member.kind) tree.set(json, member)
}

function collectionsIn(tree: MembersByName): readonly SelectedCollection[] {
  return [...tree.values()].flatMap((member) => {
    if (member.kind === 'collection') return [member]
    return member.kind === 'branch' ? collectionsIn(member.tree) : []
  })
}

/** Start of the paths in `select`: the resource's own records, or the records of a collection. */
export interface SelectStart {
  readonly context: Context
  readonly selection: SelectedMembers
}

/** Collection in `select`, with a separate selection. */
export class SelectedCollection implements SelectStart {
  readonly kind = 'collection'
  readonly selection: SelectedMembers = new SelectedMembers()
  readonly context: Context
  readonly step: RelationStep
  /** To-one relations between the record of the outer statement and the parent. */
  readonly joins: readonly Join[]
  readonly join: Join
  /** The parent's field that the children refer to. */
  readonly parentKey: Field
  where: Predicate | null = null
  order: readonly OrderKey[] = []
  limit = 0
  /** Whether the request states a limit. */
  hasOwnLimit = false

  constructor(parts: Pick<SelectedCollection, 'context' | 'step' | 'joins' | 'join' | 'parentKey'>) {
    this.context = parts.context
    this.step = parts.step
    this.joins = parts.joins
    this.join = parts.join
    this.parentKey = parts.parentKey
  }
}

/** Builds the projection of a statement: the columns, and the members that read these columns by index. */
class ProjectionBuilder {
  readonly #columns: ColumnList
  readonly #view: View
  readonly #embeds: Embed[] = []
  readonly #readable = new Set<number>()

  constructor(columns: ColumnList, view: View) {
    this.#columns = columns
    this.#view = view
  }

  build(tree: MembersByName): Projection {
    const members = this.#createMembers(tree)
    for (const index of columnIndexesOf(members)) this.#readable.add(index)
    const parts = { columns: this.#columns.list, members, readableColumns: this.#readable }
    return this.#embeds.length === 0 ? parts : { ...parts, embeds: this.#embeds }
  }

  #createMembers(tree: MembersByName): Member[] {
    return [...tree].map(([json, member]): Member => {
      if (member.kind === 'value') return member
      if (member.kind === 'computing') return this.#createComputed(member)
      if (member.kind === 'document') return { kind: 'object', json, members: this.#createMembers(member.tree) }
      return member.kind === 'branch' ? this.#createNested(json, member) : this.#createCollection(json, member)
    })
  }

  #createComputed({ field, joins, position }: PlannedComputed): Member {
    return createComputedMember(field, position, (needed) => this.#columns.add(joins, needed))
  }

  #createNested(json: string, { step: { access }, joins, tree }: RelationMember): Member {
    const { presenceField: field } = access
    const presence = this.#columns.add(joins, field)
    if (field.targets.has('list') && this.#view.readable(field, access)) this.#readable.add(presence)
    return { kind: 'nested', json, presence, members: this.#createMembers(tree) }
  }

  #createCollection(json: string, collection: SelectedCollection): Member {
    const { joins, join, parentKey, where, order, limit, selection, step } = collection
    const link = this.#joinRowOf(collection)
    const index = this.#embeds.push({
      join,
      parentKeyColumn: this.#columns.add(joins, parentKey),
      where,
      order,
      limit,
      projection: selection.createProjection(this.#view),
      identity: step.access.order,
      ...(link === null ? {} : { joinRow: link }),
    })
    return { kind: 'many', json, index: index - 1 }
  }

  /** Returns the join to the join model's row of each record in a collection, or null if no path reads the row. */
  #joinRowOf({ context: { root, queryCost } }: SelectedCollection): Join | null {
    const { joinRow: relation, access: from } = root
    const access = relation?.resolveTarget() ?? null
    if (relation === null || access === null || !queryCost.hasJoined(root, relation)) return null
    return this.#view.join({ relation, access, from })
  }
}
