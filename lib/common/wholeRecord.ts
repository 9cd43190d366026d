import type { SelectionMembers } from '../../types/intent.js'

/** The selection of all members of a record. */
export const WHOLE_RECORD: SelectionMembers = Object.freeze({
  select: null,
  collections: [],
  unknownFields: 'reject',
  preference: Object.freeze({ applied: null, varies: false }),
})
