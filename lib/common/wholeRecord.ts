import type { SelectionMembers } from '../../types/intent.js'

/** Selects the whole record. */
export const WHOLE_RECORD: SelectionMembers = Object.freeze({
  select: null,
  collections: [],
  unknownFields: 'reject',
  preference: Object.freeze({ applied: null, varies: false }),
})
