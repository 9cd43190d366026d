import type { FieldType, JsonValue } from '../../types/field.js'
import type { Column, PlainValue, Predicate } from '../../types/plan.js'
import type { ParentLink } from '../../types/view.js'
import { bindingOf } from '../bodies/index.js'
import { columnOf, ownColumn, requireField } from '../common/columns.js'
import { matchChildren } from '../common/foreignKeyBinding.js'
import { matchKeys } from '../common/keys.js'
import { toPlainValue } from '../common/plainValue.js'
import { matchStoredValues } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { performRead } from '../perform/index.js'
import { authorizeTarget, requireKey } from '../plan/index.js'
import { isEqualInDatabase } from '../read.js'
import type { NestedRequest } from './request.js'

/** Value of the parent's key that children refer to. */
export interface ParentKey {
  readonly json: JsonValue
  /** The stored value, or null. */
  readonly stored: PlainValue | null
}

/**
 * Reads the key of the parent in the path.
 * @throws Problem 404 if the parent is missing or hidden
 */
export async function readParentKey(request: NestedRequest): Promise<ParentKey> {
  const { parent, parentId, call } = request
  const { resource, caller } = parent
  const key = requireKey(resource.keys, parentId)
  const column = parentKeyColumn(request)
  const projection = { columns: [column], members: [] }
  const planned = { kind: 'get', key, where: matchKeys(resource.keys, [key]), projection } as const
  const plan = (await resource.behaviours.amend?.(resource, planned, caller)) ?? planned
  const { outcome } = await performRead({ resource, plan, foreignKeyChecks: [] }, call)
  const columns: readonly Column[] = 'projection' in plan ? plan.projection.columns : projection.columns
  const value = outcome.kind === 'record' ? (outcome.row[columns.indexOf(column)] ?? null) : null
  return { json: column.field.decode(value), stored: value === null ? null : toPlainValue(column.field, value) }
}

/**
 * Returns the parent's column to read. For a belongs-to relation, the target's key is read through a join. The database
 * applies polymorphic types, and its collations may equate different texts or UUIDs.
 */
function parentKeyColumn({ relation, parent, target }: NestedRequest): Column {
  const { attributes, association, polymorphic } = relation
  const source = requireField(parent.resource.fields, attributes.source)
  const isJoined = association.associationType === 'BelongsTo' && !INTEGER_TYPES.has(source.valueType.type)
  if (!polymorphic && !isJoined) return ownColumn(source)
  return columnOf(
    [{ relation, condition: null, joinRowCondition: null }],
    requireField(target.resource.fields, attributes.target),
  )
}

const INTEGER_TYPES: ReadonlySet<FieldType> = new Set(['integer', 'bigint'])

/** Builds the condition for the target's records behind the relation. */
export async function buildParentCondition(
  { relation, parent, target, joinModel }: NestedRequest,
  { stored: value }: ParentKey,
): Promise<Predicate> {
  const { attributes } = relation
  const field = requireField(parent.resource.fields, attributes.source)
  if (value === null) return { kind: 'never' }
  if (relation.joinModel === null) return matchChildren(bindingOf(parent.resource, relation, target.resource), value)
  const guard = joinModel === null ? null : await authorizeTarget(joinModel.resource, joinModel.caller)
  // A caller who may not see any row of the join model may not follow the relation.
  if (guard === false) throw problem('not-found')
  return { kind: 'linked', relation, key: field, values: [value], joinRowCondition: guard }
}

/**
 * Returns the relation to the join model's rows between the parent and the records of a many-to-many. Returns null if
 * paths may not use these rows.
 */
export function resolveParentLink(
  { relation }: Pick<NestedRequest, 'relation'>,
  { stored }: ParentKey,
): ParentLink | null {
  const row = relation.joinModel?.joinRow() ?? null
  const rows = row?.resolveTarget()?.resources[0]
  if (row === null || rows === undefined || stored === null || relation.joinModel === null) return null
  return {
    relation: row,
    condition: matchStoredValues(requireField(rows.fields, relation.joinModel.source), [stored]),
  }
}

/** Whether a value in a body equals the parent's key, as the database compares them. */
export function isParentKey({ parent, parentId, relation }: NestedRequest, stated: unknown): Promise<boolean> {
  const { keys, fields } = parent.resource
  const key = requireKey(keys, parentId)
  return isEqualInDatabase(parent.resource, key, requireField(fields, relation.attributes.source), stated)
}
