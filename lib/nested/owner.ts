import type { Field, JsonValue } from '../../types/field.js'
import type { Column, PlainValue, Predicate } from '../../types/plan.js'
import { reachOf } from '../bind/index.js'
import { columnOf, fieldNamed, ownColumn } from '../common/columns.js'
import { Leaving } from '../common/leaving.js'
import { plainOf } from '../common/plain.js'
import { both, compared, isNull } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { perform } from '../perform/index.js'
import { byKey, readKeyOf } from '../plan/index.js'
import type { NestedRequest, Party } from './request.js'

/** The record that a request starts from, by what ties the records behind the relation to it: as JSON, null for nothing. */
export async function ownerOf({ owner, relation, target, req }: NestedRequest): Promise<JsonValue> {
  const { resource, caller } = owner
  const { source } = relation.ends
  const key = readKeyOf(resource.keys, String(req.params.id ?? ''))
  if (key === null) throw problem('not-found')
  // The type beside a polymorphic foreign key decides what it means, and the join compares that type.
  const tie = relation.polymorphic
    ? columnOf([{ relation, guard: null, linkGuard: null }], fieldNamed(target.resource.fields, relation.ends.target))
    : ownColumn(fieldNamed(resource.fields, source))
  const projection = { columns: [tie], members: [] }
  const planned = { kind: 'get', where: byKey(resource.keys, [key]), projection } as const
  const plan = (await resource.behaviours.amend?.(resource, planned, caller)) ?? planned
  const outcome = await perform({ resource, plan, pointers: [] }, new Leaving(caller.request))
  const columns: readonly Column[] = 'projection' in plan ? plan.projection.columns : projection.columns
  return outcome.kind === 'record' ? (tie.field.decode(outcome.row[columns.indexOf(tie)]) ?? null) : null
}

/** A key as JSON as what it is compared with. */
export function comparable(field: Field, value: JsonValue): PlainValue | null {
  return typeof value === 'object' ? null : plainOf(field, value)
}

/** What the records behind the relation have in common, as conditions on the target. */
export async function withinOwner(
  { relation, owner, target, link }: NestedRequest,
  key: JsonValue,
): Promise<Predicate> {
  const { ends } = relation
  const field = fieldNamed(owner.resource.fields, ends.source)
  const value = comparable(field, key)
  if (value === null) return { kind: 'never' }
  if (relation.link === null)
    return fixed(target, ends, compared(fieldNamed(target.resource.fields, ends.target), value, false))
  const guard = link === null ? null : await reachOf(link.resource, link.caller)
  // Whoever may meet none of the rows between may not cross them.
  if (guard === false) throw problem('not-found')
  return { kind: 'owned', relation, key: field, values: [value], guard }
}

function fixed({ resource }: Party, ends: NestedRequest['relation']['ends'], where: Predicate): Predicate {
  const conditions = [...ends.fixed()].map(([name, value]) => {
    const field = fieldNamed(resource.fields, name)
    return value === null ? isNull(field, false) : compared(field, value, false)
  })
  return conditions.reduce((all, each) => both(all, each), where)
}
