import type { Outcome, Row } from '../../../types/outcome.js'
import type { Predicate } from '../../../types/plan.js'
import { refuse } from '../../common/bodyErrors.js'
import { keyColumns } from '../../common/keys.js'
import { addCondition } from '../../common/predicates.js'
import { readLocked } from '../read.js'
import { buildIdentityPredicate } from '../recordIdentity.js'
import type { StatementContext } from '../store.js'

/** The deletion of records that the body of their parent omits. */
interface Removal {
  /** The records to delete. Each row begins with the parts of the key. */
  readonly rows: readonly Row[]
  /** The condition that selected the records. */
  readonly where: Predicate
  readonly outcome: Outcome
  /** The place of the relation in the request. */
  readonly place: string
}

const NOT_DELETABLE = 'The body removes a record that you may not delete.'

/**
 * Checks that a deletion has removed all records that the body omits. The scope of the delete operation may exclude some
 * of them, and a hook of the host may keep some.
 * @throws Problem 404 with the position of the relation
 */
export async function assertRemoved(store: StatementContext, { rows, where, outcome, place }: Removal): Promise<void> {
  if (outcome.kind === 'deleted' && outcome.count >= rows.length) return
  const { keys } = store.resource
  const identity = buildIdentityPredicate(
    keys,
    rows.map((row) => row.slice(0, keys.length)),
  )
  // The count omits records that a foreign key with ON DELETE CASCADE has deleted.
  const kept = await readLocked(store, addCondition(where, identity), keyColumns(keys), 1)
  if (kept.length > 0) refuse('not-found', { [place]: [NOT_DELETABLE] }, NOT_DELETABLE)
}
