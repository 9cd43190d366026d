import type { Transaction } from 'sequelize'
import type { Changes } from './changes.js'
import type { Field, JsonValue } from './field.js'
import type { Outcome } from './outcome.js'
import type { BulkCreatePlan, BulkDeletePlan, Caller, GetPlan, KeyValue, Plan, Predicate, UpdatePlan } from './plan.js'
import type { OperationName, Resource } from './resource.js'
import type { RecordsBefore } from './rooms.js'

/** A plan, and what its bodies say of other records. */
export interface Work<P extends Plan = Plan> {
  readonly resource: Resource
  readonly plan: P
  /** Mostly none. */
  readonly pointers: readonly Pointer[]
  /** What the bodies hold of records that belong to theirs; absent for nothing. */
  readonly branches?: readonly Branch[]
  /** Those whose say in what the caller may see the reply depends on as well; absent for nobody's. */
  readonly sees?: readonly Resource[]
  /** The same of each record of a write of several, or of the one that may be changed or made; absent for nothing. */
  readonly items?: readonly Holds[]
  /** The places of the bodies within that of another record, as errors name them. */
  readonly places?: readonly string[]
  /** Those who are asked on the way whether the caller may; absent where the resource alone is. */
  readonly hearing?: Hearing
}

/** What the caller was let do on the way, by the names of the resources that were asked. */
export type Asked = readonly (readonly [resource: string, operation: OperationName])[]

/** Who else has a say in a write than the resource that it was sent to. */
export interface Hearing {
  readonly asked: () => Asked
  /** Asks them once more, for a reply that was kept. @throws Problem 401 or 403 */
  readonly again: (asked: Asked) => Promise<void>
}

/** A foreign key that a body names, and what the record must meet that it points at. */
export interface Pointer {
  readonly field: Field
  /** A resource over the model that it points into, and the field there whose value it holds. */
  readonly target: Resource
  readonly key: Field
  readonly guard: Predicate | null
  /** Whether such a record must be there; else it is looked for because of the spelling of its UUID alone. */
  readonly isBinding: boolean
  /** Whether the caller may read what is stored there, and so may repeat it, wherever it points. */
  readonly isShown: boolean
}

/** What one body of several holds, or one that may change a record or make it. */
export interface Holds {
  /** Of the record that is there, by its key. */
  readonly there: (key: KeyValue) => Promise<readonly Branch[]>
  /** Of a new one. */
  readonly fresh: readonly Branch[]
}

/** What bodies hold of the records behind one relation. */
export type Branch = NewBranch | ReplacedBranch | LinkedBranch

interface Branching {
  /** The member of the owner's body. */
  readonly json: string
  readonly resource: Resource
  readonly tie: Tie
  /** What is wrong with its form, by place. */
  readonly faults: Faults
}

export type Faults = Readonly<Record<string, readonly string[]>>

/** What makes a record the owner's. */
export interface Tie {
  /** The owner's attribute, and the record's foreign key, which holds the value of that. */
  readonly source: Field
  readonly key: Field
  /** What all records behind the relation have. */
  readonly fixed: ReadonlyMap<Field, string | number | boolean | null>
}

/** Plans writes behind a relation: of children, or of rows of a join model. Each asks the policy of what it is about to do. */
export interface Writes {
  readonly create: (all: readonly PlacedBody[]) => Promise<Planned<BulkCreatePlan>>
  readonly update: (sent: PlacedBody, key: KeyValue) => Promise<Planned<UpdatePlan>>
  readonly remove: (keys: readonly KeyValue[]) => Promise<Planned<BulkDeletePlan>>
  /** Of a deleted row, if another one would link the same two records a second time. */
  readonly restore: (key: KeyValue) => Promise<Planned<UpdatePlan>>
}

/** The body of one record and its place. */
export interface PlacedBody {
  readonly place: string
  /** Null for nothing. */
  readonly body: Readonly<Record<string, unknown>> | null
}

/** Records of owners that are new themselves. */
export interface NewBranch extends Branching {
  readonly kind: 'new'
  /** Whether it is a collection. */
  readonly many: boolean
  readonly caller: Caller
  /** All of them, owner by owner. */
  readonly work: Work<BulkCreatePlan>
  /** Which of them are whose, owner by owner: undefined for one who says nothing, null for one who wants none. */
  readonly groups: readonly (readonly number[] | null | undefined)[]
}

/** What the records of one owner, who is there already, are replaced with. */
export interface ReplacedBranch extends Branching, Writes {
  readonly kind: 'replaced'
  /** Whether it is a collection. */
  readonly many: boolean
  /** In the order of the body; a to-one relation has one, or none for null. */
  readonly elements: readonly Element[]
  /** What the records meet that the caller may; null for all. */
  readonly guard: Predicate | null
  /** Whether clients choose keys, so that one which is nowhere is that of a new record. */
  readonly isChosen: boolean
  /** How many records a request may remove because its bodies do not have them; and the answer to more. */
  readonly spare: number
  readonly overflow: () => Error
  /** What the caller is shown of records that stay as they are. */
  readonly show: (keys: readonly KeyValue[]) => Promise<Planned<GetPlan>>
}

/** What becomes of the links of owners, each of whom links their own records: by rows of a table between. */
export interface LinkedBranch extends Branching, Writes {
  readonly kind: 'linked'
  /** Whether the records are all that are linked then, are linked besides what is, or are linked no more. */
  readonly mode: 'set' | 'add' | 'remove'
  /** Whether the request is about one record, which its path names. */
  readonly isOne: boolean
  /** The resource over the table between. The tie's key is its foreign key to the owner. */
  readonly between: Resource
  /** Its foreign key to the linked record, and the attribute of that which it holds the value of. */
  readonly key: Field
  readonly target: Field
  /** Whether the database holds that no two rows link the same two records. */
  readonly isUnique: boolean
  /** What the caller may meet: of the records, and of the rows between; null for all of these. */
  readonly meetable: Predicate
  readonly guard: Predicate | null
  /** Owner by owner; undefined for one who says nothing. */
  readonly groups: readonly (readonly Wanted[] | undefined)[]
}

/** A record that is to be linked, or is not to be any more. */
export interface Wanted extends PlacedBody {
  /** Undefined for what can be the key of no record. */
  readonly key: KeyValue | undefined
  /** The foreign keys that the body states, where only the database tells whether they are right; absent for none. */
  readonly stated?: readonly StatedKey[]
}

/** A foreign key that a body states, which the database compares with the key that it must be. */
export interface StatedKey {
  readonly place: string
  readonly end: 'owner' | 'path-key'
  readonly value: unknown
}

/** How many links were made, undone and changed. */
export interface LinkCounts {
  readonly linked: number
  readonly unlinked: number
}

/** A part of a request, and who asks for it: a scope may answer for each operation in another way. */
export interface Planned<P extends Plan> {
  readonly work: Work<P>
  readonly caller: Caller
}

export interface Element extends PlacedBody {
  /**
   * The key, by the value that points at the owner, which may be a part of it. Null for an element without a key; undefined
   * for one that can be the key of no record.
   */
  readonly keyOf: (owner: JsonValue) => KeyValue | null | undefined
  /** Whether the element has no key. */
  readonly isNew: boolean
  /** Whether nothing is said of the record but that it stays. */
  readonly isKept: boolean
  /** The owner's key that the element states, if the database has to compare it. */
  readonly stated: readonly StatedKey[]
}

/** What came of a work. */
export interface Done {
  readonly work: Work
  readonly outcome: Outcome
  /** What its records hold of others, as the bodies had it. */
  readonly held: readonly Held[]
  /** What else was written, in its order. */
  readonly parts: readonly Part[]
  /** Where that is what the request is about. */
  readonly links?: LinkCounts
}

/** Completes what a write has done, within its transaction. What it throws undoes the write. */
export type Finish = (done: Done, transaction: Transaction) => Promise<void>

/** What a write tells on its way of when it does what, so that it can be told of in the order of the commits. */
export interface Ordering {
  /** An attempt begins; what was written by one before was rolled back. */
  readonly begin: () => void
  /** A part of it was written, and its records are locked until the end. */
  readonly wrote: (work: Work, outcome: Outcome) => void
  /** All of it was written, and its records are locked until the end. `outcome` is null where parts of it have told theirs. */
  readonly committing: (outcome: Outcome | null) => void
  /** It is one statement by itself: nobody knows when it was committed but by its answer. */
  readonly alone: () => void
  /** The records of the current attempt as they were before it. */
  readonly before: RecordsBefore
}

export interface Part {
  readonly done: Done
  readonly caller: Caller
}

export interface Held {
  /** The place of the owner among the records of the outcome. */
  readonly owner: number
  readonly json: string
  readonly value: Shown | readonly Shown[] | Keys | null
}

/** The keys of records that an owner is linked to. */
export interface Keys {
  readonly keys: readonly JsonValue[]
}

/** A record of what was done. */
export interface Shown {
  readonly done: Done
  readonly index: number
}

/** The values that make each of several new records its owner's. */
export type Ties = readonly Changes[]
