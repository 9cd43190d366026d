import type { BoundPath } from '../../types/bound.js'
import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import type { View } from '../../types/view.js'
import { echoed } from '../common/echo.js'
import { type Problem, problem } from '../common/problem.js'
import { didYouMean } from '../config/suggest.js'
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
  /** The fields that are suggested for unknown names: those of the resource, and none for elements of a collection. */
  readonly fields: readonly Field[]
}

export function contextOf({ limits, fields }: Resource, unknownFields: Context['unknownFields'], view: View): Context {
  const root = { depth: 0, collections: 0 }
  return { root, limits, unknownFields, view, tally: new Tally(limits), prefix: '', fields }
}

/** The same for a collection's own statement, whose paths start at its elements. */
export function contextAt(context: Context, depth: number, prefix: string): Context {
  return { ...context, root: { depth, collections: 0 }, tally: context.tally.another(), prefix, fields: [] }
}

// A URL has room for very long names.
const LONGEST_GUESSED = 50

/** A suggestion for the name of an own field. It only depends on what was written and on the fields that this caller may use. */
export function suggestion(
  { fields, view }: Context,
  { segments }: Pick<BoundPath, 'segments'>,
  isUsable: (field: Field) => boolean,
): string {
  const [name = ''] = segments
  if (segments.length > 1 || name.length > LONGEST_GUESSED) return ''
  const usable = fields.filter((field) => isUsable(field) && view.readable(field, null))
  return didYouMean(
    name,
    usable.map(({ json }) => json),
  )
}

/** The query parameter that a fault is told under. */
export type Parameter = string

/** One answer for what does not exist and for what this caller may not see. */
export function unknownField(parameter: Parameter, name: string, offset: number, hint = ''): Problem {
  const message = `Unknown field "${echoed(name)}" at position ${offset}.${hint}`
  const told = echoed(parameter)
  return problem('unknown-field', { errors: { [told]: [message] }, detail: `${told}: ${message}` })
}
