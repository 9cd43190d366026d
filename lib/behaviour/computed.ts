import type { BehaviourDefinition } from '../../types/behaviour.js'
import { PRIVATE_HEADERS } from '../common/headers.js'

/** Makes replies of a resource private to the caller if a computed field depends on the caller. */
export const computed: BehaviourDefinition = {
  options: {},
  prepare: (_, { computed: given = {} }) => {
    const fields = Object.values(given)
    if (fields.length === 0) return null
    const isPrivate = fields.some(({ perCaller }) => perCaller === true)
    return {
      facts: { needsIdentity: true },
      behaviour: () => (isPrivate ? { headers: PRIVATE_HEADERS } : {}),
    }
  },
}
