import type { Caller } from '../../types/plan.js'
import type { Link, Relation, Resource } from '../../types/resource.js'
import { type Hidden, hiddenFrom } from './hidden.js'

/** The resources over the table with a relation's foreign key, or keys, which the relation would tell. */
export function holdersOf(
  { association, link }: Pick<Relation, 'association' | 'link'>,
  sources: readonly Resource[],
  targets: readonly Resource[],
): readonly Resource[] {
  if (link !== null) return link.resources()
  return association.associationType === 'BelongsTo' ? sources : targets
}

/** Whether a relation is closed to a caller from both sides, since one of these hides the key that it would tell. */
export function isClosed(
  relation: Pick<Relation, 'association' | 'link'>,
  holders: readonly Resource[],
  caller: Caller,
): boolean {
  return isClosedWhere(relation, holders, (holder) => hiddenFrom(caller, holder))
}

/** The same to whom the holders hide these attributes. */
export function isClosedWhere(
  { association, link }: Pick<Relation, 'association' | 'link'>,
  holders: readonly Resource[],
  hiddenIn: (holder: Resource) => Hidden,
): boolean {
  return holders.some((holder) => {
    const hidden = hiddenIn(holder)
    return link === null ? hidden.has(association.foreignKey) : hidesLink(holder, link, hidden)
  })
}

/** Whether a resource shows the caller one of the keys that link two records nowhere, or masks it. */
function hidesLink({ fields }: Resource, { keys }: Link, hidden: ReadonlySet<string>): boolean {
  return fields.some(
    ({ name, targets }) =>
      keys.includes(name) && (hidden.has(name) || !(targets.has('response') || targets.has('list'))),
  )
}
