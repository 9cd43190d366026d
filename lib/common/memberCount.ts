import { problem } from './problem.js'

/** The most members of a body. No table has more columns. */
const MAX_MEMBERS = 4096

/** @throws Problem 400 for a body with too many members */
export function checkMemberCount<B extends object>(body: B): B {
  if (Object.keys(body).length <= MAX_MEMBERS) return body
  throw problem('malformed-body', { detail: `The body has more members than the limit of ${MAX_MEMBERS}.` })
}
