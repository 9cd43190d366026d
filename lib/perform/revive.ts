import type { Outcome } from '../../types/outcome.js'
import type { CreatePlan, UpdatePlan } from '../../types/plan.js'
import { Problem } from '../common/problem.js'
import { addDefaults } from './replace.js'
import type { StatementContext } from './store.js'

/**
 * Restores a deleted record that the new record would collide with, and writes the new values. Returns null if there is
 * no deleted record. Also returns null if the body is invalid, because the creation reports the errors.
 */
export async function reviveDeleted(
  store: StatementContext,
  { revives, changes, projection, invalid }: CreatePlan,
  write: (plan: UpdatePlan) => Promise<Outcome>,
): Promise<Outcome | null> {
  if (revives === undefined || invalid !== null) return null
  try {
    const own = new Set(store.resource.keys.map(({ name }) => name))
    // The values already include the foreign keys to parents. The client gets the response to a creation, so the
    // projection is that of the creation.
    const whole = { ...revives, changes: new Map([...changes].filter(([name]) => !own.has(name))), projection }
    return await write(await addDefaults(store, whole))
  } catch (error) {
    if (error instanceof Problem && error.code === 'not-found' && error.errors === undefined) return null
    throw error
  }
}
