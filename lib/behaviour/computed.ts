import type { BehaviourDefinition } from '../../types/behaviour.js'

/** Computed fields may depend on the caller. Replies of a resource that has such a field are private. */
export const computed: BehaviourDefinition = {
  options: {},
  prepare: (_, { computed: given = {} }) => {
    const fields = Object.values(given)
    if (fields.length === 0) return null
    const isPrivate = fields.some(({ perCaller }) => perCaller === true)
    return {
      facts: { asksIdentity: true },
      behaviour: () => (isPrivate ? { headers: { Vary: 'Authorization', 'Cache-Control': 'private' } } : {}),
    }
  },
}
