/** The error details for a missing version and for an outdated version. */
export const VERSION_MISSING =
  'Send If-Match with the ETag of the record as you last read it, or with * to write unconditionally.'
export const VERSION_OUTDATED = 'The record has changed. Read it again and send its current ETag as If-Match.'
