import type { FieldType, JsonValue } from '../../types/field.js'
import type { Column, PlainValue, Predicate } from '../../types/plan.js'
import type { OwnerLink } from '../../types/view.js'
import { tieOf } from '../bodies/index.js'
import { columnOf, fieldNamed, ownColumn } from '../common/columns.js'
import { plainOf } from '../common/plain.js'
import { joinedTo } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { owned } from '../common/ties.js'
import { perform } from '../perform/index.js'
import { byKey, reachOf, readKeyOf } from '../plan/index.js'
import { isStoredAs } from '../read.js'
import type { NestedRequest } from './request.js'

/** Value of the parent's key that children refer to. */
export interface OwnerKey {
  readonly json: JsonValue
  /** The stored value, or null. */
  readonly stored: PlainValue | null
}

/** Reads the key of the parent in the path. @throws Problem 404 */
export async function ownerOf(request: NestedRequest): Promise<OwnerKey> {
  const { owner, ownerId, call } = request
  const { resource, caller } = owner
  const key = readKeyOf(resource.keys, ownerId)
  if (key === null) throw problem('not-found')
  const tie = readFrom(request)
  const projection = { columns: [tie], members: [] }
  const planned = { kind: 'get', key, where: byKey(resource.keys, [key]), projection } as const
  const plan = (await resource.behaviours.amend?.(resource, planned, caller)) ?? planned
  const outcome = await perform({ resource, plan, pointers: [] }, call)
  const columns: readonly Column[] = 'projection' in plan ? plan.projection.columns : projection.columns
  const value = outcome.kind === 'record' ? (outcome.row[columns.indexOf(tie)] ?? null) : null
  return { json: tie.field.decode(value), stored: value === null ? null : plainOf(tie.field, value) }
}

/**
 * Column of the parent to read. For a belongs-to relation it is the target's key from a join in the database: a polymorphic type decides
 * about the relation, and collations may treat different texts or UUIDs as equal.
 */
function readFrom({ relation, owner, target }: NestedRequest): Column {
  const { ends, association, polymorphic } = relation
  const source = fieldNamed(owner.resource.fields, ends.source)
  const isJoined = association.associationType === 'BelongsTo' && !WHOLE.has(source.valueType.type)
  if (!polymorphic && !isJoined) return ownColumn(source)
  return columnOf([{ relation, guard: null, linkGuard: null }], fieldNamed(target.resource.fields, ends.target))
}

const WHOLE: ReadonlySet<FieldType> = new Set(['integer', 'bigint'])

/** Conditions on the target for the records behind the relation. */
export async function withinOwner(
  { relation, owner, target, link }: NestedRequest,
  { stored: value }: OwnerKey,
): Promise<Predicate> {
  const { ends } = relation
  const field = fieldNamed(owner.resource.fields, ends.source)
  if (value === null) return { kind: 'never' }
  if (relation.link === null) return owned(tieOf(owner.resource, relation, target.resource), value)
  const guard = link === null ? null : await reachOf(link.resource, link.caller)
  // A caller who may not see any row of the join model may not use the relation.
  if (guard === false) throw problem('not-found')
  return { kind: 'owned', relation, key: field, values: [value], guard }
}

/** Join model rows between the parent and the records of a many-to-many, if paths may use these rows. */
export function linkTo({ relation }: Pick<NestedRequest, 'relation'>, { stored }: OwnerKey): OwnerLink | null {
  const row = relation.link?.row() ?? null
  const holder = row?.reach()?.resources[0]
  if (row === null || holder === undefined || stored === null || relation.link === null) return null
  return { relation: row, pair: joinedTo(fieldNamed(holder.fields, relation.link.source), [stored]) }
}

/** Whether a value in a body equals the parent's key in a comparison by the database. */
export function isOwnerKey({ owner, ownerId, relation }: NestedRequest, stated: unknown): Promise<boolean> {
  const { keys, fields } = owner.resource
  const key = readKeyOf(keys, ownerId)
  if (key === null) throw problem('not-found')
  return isStoredAs(owner.resource, key, fieldNamed(fields, relation.ends.source), stated)
}
