import type { Outcome } from '../../types/outcome.js'
import type { CreatePlan, UpdatePlan } from '../../types/plan.js'
import { Problem } from '../common/problem.js'
import { addDefaults } from './replace.js'
import type { Store } from './store.js'

/**
 * Restores a deleted record that the new record would collide with, and writes the new values. Returns null if there is
 * no such record, or if the body is invalid, which the creation reports.
 */
export async function reviveDeleted(
  store: Store,
  { revives, changes, projection, invalid }: CreatePlan,
  write: (plan: UpdatePlan) => Promise<Outcome>,
): Promise<Outcome | null> {
  if (revives === undefined || invalid !== null) return null
  try {
    const own = new Set(store.resource.keys.map(({ name }) => name))
    // The values already include the keys of nested owners. The response is that of a creation.
    const whole = { ...revives, changes: new Map([...changes].filter(([name]) => !own.has(name))), projection }
    return await write(await addDefaults(store, whole))
  } catch (error) {
    if (error instanceof Problem && error.code === 'not-found' && error.errors === undefined) return null
    throw error
  }
}
