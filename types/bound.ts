import type { Field } from './field.js'
import type { Intent, ListIntent, Shape } from './intent.js'
import type {
  FilterNode,
  GroupNode,
  GroupSortNode,
  HavingNode,
  MeasureNode,
  Path,
  Quantifier,
  SortNode,
} from './query.js'
import type { Reach, Reference, Relation } from './resource.js'

/** A relation on a path, with what lies behind it as long as nobody minds. */
export interface Crossing {
  readonly relation: Relation
  readonly reach: Reach
  /** What the relation leads away from; null for the resource itself. */
  readonly from: Reach | null
}

/** A path with its names looked up, each once, and nobody asked yet. */
export type BoundPath = FieldPath | RelationPath | EveryPath | CollectionPath | UnknownPath

interface Way extends Path {
  /** The to-one relations that it crosses first. */
  readonly crossings: readonly Crossing[]
}

/** `reach` is what the field is one of; null for the resource itself. */
export interface FieldPath extends Way {
  readonly kind: 'field'
  readonly field: Field
  readonly reach: Reach | null
  /** The name by which the field is a member of the resource's own records, where the path was given by that. */
  readonly flattened?: string
}

/** It ends at the last of its crossings. */
export interface RelationPath extends Way {
  readonly kind: 'relation'
}

/** It means every field of what it leads to. */
export interface EveryPath extends Way {
  readonly kind: 'every'
}

/** It goes on over a collection: with a quantifier's word or without, and with what is said of an element, or nothing. */
export interface CollectionPath extends Way {
  readonly kind: 'collection'
  readonly crossing: Crossing
  readonly word: Quantifier | null
  readonly rest: BoundPath | null
}

/** Behind its crossings stands a name that is none. */
export interface UnknownPath extends Way {
  readonly kind: 'unknown'
}

export type BoundFilter = FilterNode<BoundPath>

export type BoundSort = SortNode<BoundPath>

/** A relation whose fields become members of the record under joined names: `team` and `name` give `teamName`. */
export interface Flattened {
  readonly crossing: Crossing
  readonly members: Readonly<Record<'response' | 'list', readonly FlattenedMember[]>>
  /** What is flattened into its target in turn. */
  readonly deeper: readonly Flattened[]
}

export interface FlattenedMember {
  readonly json: string
  readonly field: Field
}

/** What is asked for of groups, with the names of fields looked up but for those of its sort, which name what was asked for. */
export interface BoundAggregation {
  readonly measures: readonly MeasureNode<BoundPath>[]
  readonly groups: readonly GroupNode<BoundPath>[]
  readonly having: HavingNode<BoundPath> | null
  readonly sort: readonly GroupSortNode[]
}

/** An intent with the names in it looked up, as far as its mode uses them. */
export type Bound = BoundList | BoundRecord

interface BoundIntent {
  /** What the records of the reply show of others; none for a reply without full records. */
  readonly flattened: readonly Flattened[]
}

export interface BoundList extends BoundIntent {
  readonly kind: 'list'
  readonly intent: ListIntent
  readonly filter: BoundFilter | null
  /** The keys of `sort`, or else of the default sort; none where `sortBy` orders, or nothing does. */
  readonly order: readonly BoundSort[]
  /** Null where there is no `sortBy`, or no such field. */
  readonly sortBy: Field | null
  readonly select: BoundSelect | null
  readonly aggregation: BoundAggregation | null
  /** The host's paths that words are looked for in; none where there are none to look for. */
  readonly search: readonly BoundPath[]
}

/** What is selected, and what is said of the collections in it. */
export interface BoundSelect {
  readonly paths: readonly BoundPath[]
  readonly shapes: readonly BoundShape[]
}

export interface BoundShape extends Pick<Shape, 'path' | 'parameter' | 'limit'> {
  /** Null where the path leads to no collection. */
  readonly collection: BoundPath | null
  readonly filter: BoundFilter | null
  readonly order: readonly BoundSort[] | null
}

export interface BoundRecord extends BoundIntent {
  readonly kind: 'record'
  /** The foreign keys that a body of the intent names, as far as somebody may mind where they point. */
  readonly references: readonly Reference[]
  readonly intent: Exclude<Intent, ListIntent>
  /** Null for full records, and for replies without any. */
  readonly select: BoundSelect | null
}
