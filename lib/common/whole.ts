import type { Selecting } from '../../types/intent.js'

/** Selects the whole record. */
export const WHOLE: Selecting = Object.freeze({
  select: null,
  shapes: [],
  unknownFields: 'reject',
  preference: Object.freeze({ applied: null, varies: false }),
})
