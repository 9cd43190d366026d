import type { BoundPath } from '../../types/bound.js'
import type { Field } from '../../types/field.js'
import type { Reach, Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import type { View } from '../../types/view.js'
import { echoed } from '../common/echo.js'
import { folded } from '../common/folded.js'
import { type Problem, problem } from '../common/problem.js'
import { nearest } from '../config/suggest.js'
import { Tally } from './tally.js'

/** Where paths start: at the resource itself, or at an element of a collection. */
export interface Root {
  /** The relations crossed on the way here. */
  readonly depth: number
  /** The collections among them: those that a path from here is within. */
  readonly collections: number
  /** The fields here that may be suggested. */
  readonly fields: () => readonly Field[]
  /** What the last relation reaches; null at the resource itself. */
  readonly reach: Reach | null
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

export function contextOf({ limits, fields }: Resource, unknownFields: Context['unknownFields'], view: View): Context {
  const root: Root = { depth: 0, collections: 0, fields: () => fields, reach: null }
  return { root, limits, unknownFields, view, tally: new Tally(limits), prefix: '' }
}

/** The same for a collection's own statement, whose paths start at its elements. */
export function contextAt(context: Context, depth: number, prefix: string, reach: Reach): Context {
  return { ...context, root: rootIn(reach, depth, 0), tally: context.tally.another(), prefix }
}

/** Where paths start at the elements of a collection. */
export function rootIn(reach: Reach, depth: number, collections: number): Root {
  return { depth, collections, fields: () => [...reach.fields.values()], reach }
}

// A URL has room for very long names.
export const LONGEST_GUESSED = 50

/** Whether a field may stand where an unknown name does. */
type IsUsable = (field: Field, reach: Reach | null) => boolean

/**
 * A suggestion for an unknown last name of a path. It only depends on what was written and on the fields that this caller may use
 * there: behind relations that he may not cross there are none.
 *
 * `written` is the whole path where `path` is the rest of one behind a collection.
 */
export function suggestion(
  { view }: Context,
  root: Root,
  path: BoundPath,
  isUsable: IsUsable,
  written: readonly string[] = path.segments,
): string {
  const { segments, crossings } = path
  const depth = Math.min(crossings.length, segments.length - 1)
  const crossed = crossings.slice(0, depth)
  const [name = '', ...more] = segments.slice(depth)
  if (more.length > 0 || name.length > LONGEST_GUESSED || crossed.some((each) => view.cross(each) === null)) return ''
  const reach = crossed.at(-1)?.reach ?? root.reach
  const fields = crossed.length === 0 || reach === null ? root.fields() : [...reach.fields.values()]
  const usable = fields.filter((field) => isUsable(field, reach) && view.readable(field, reach))
  const meant = meantBy(name, usable)
  return meant === undefined ? '' : ` Did you mean "${[...written.slice(0, -1), meant].join('.')}"?`
}

/** The field that a name is the attribute's own name of, or another spelling of, or else the nearest one. */
function meantBy(name: string, fields: readonly Field[]): string | undefined {
  const word = folded(name)
  const [only, ...others] = fields.filter((field) => field.name === name || folded(field.json) === word)
  if (only !== undefined && others.length === 0) return only.json
  return nearest(
    name,
    fields.map(({ json }) => json),
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
