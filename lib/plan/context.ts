import type { Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import type { View } from '../../types/view.js'
import { echoed } from '../common/echo.js'
import { type Problem, problem } from '../common/problem.js'
import { Tally } from './tally.js'

/** Where paths start: at the resource itself, or at an element of a collection. */
export interface Root {
  /** The relations crossed on the way here. */
  readonly depth: number
  /** The collections among them: those that a path from here is within. */
  readonly collections: number
}

/** What the planning of one request's query needs to know. */
export interface Context {
  readonly root: Root
  readonly limits: Limits
  readonly unknownFields: 'reject' | 'ignore'
  readonly view: View
  /** What the request's own paths reach in one statement. */
  readonly tally: Tally
  /** What the names of parameters begin with that are about a collection in `select`; nothing for the list's own. */
  readonly prefix: string
}

export function contextOf({ limits }: Resource, unknownFields: Context['unknownFields'], view: View): Context {
  return { root: { depth: 0, collections: 0 }, limits, unknownFields, view, tally: new Tally(limits), prefix: '' }
}

/** The same for a collection's own statement, whose paths start at its elements. */
export function contextAt(context: Context, depth: number, prefix: string): Context {
  return { ...context, root: { depth, collections: 0 }, tally: context.tally.another(), prefix }
}

/** The query parameter that a fault is told under. */
export type Parameter = string

/** One answer for what does not exist and for what this caller may not see. */
export function unknownField(parameter: Parameter, name: string, offset: number, hint = ''): Problem {
  const message = `Unknown field "${echoed(name)}" at position ${offset}.${hint}`
  const told = echoed(parameter)
  return problem('unknown-field', { errors: { [told]: [message] }, detail: `${told}: ${message}` })
}
