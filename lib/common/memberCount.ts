import { problem } from './problem.js'

/** The maximum number of members of a body. No table has more columns. */
const MAX_MEMBERS = 4096

/** Checks the number of members of a body. @throws Problem 400 for too many members */
export function checkMemberCount<B extends object>(body: B): B {
  if (Object.keys(body).length <= MAX_MEMBERS) return body
  throw problem('malformed-body', { detail: `The body has more members than the limit of ${MAX_MEMBERS}.` })
}
