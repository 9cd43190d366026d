import type { View } from '../../types/plan.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { type Problem, problem } from '../common/problem.js'
import { Tally } from './tally.js'

/** Where names are looked up: a resource itself, or what a relation reaches. */
export interface Root {
  readonly fields: Reach['fields']
  readonly relations: ReadonlyMap<string, Relation>
  /** Null at the resource itself. */
  readonly reach: Reach | null
  /** The relations crossed on the way here. */
  readonly depth: number
  /** The collections among them: those that a path from here is within. */
  readonly collections: number
}

/** The names behind a relation as the start of paths. */
export function rootAt(reach: Reach, depth: number, collections: number): Root {
  return { fields: reach.fields, relations: reach.relations, reach, depth, collections }
}

/** What the planning of one request's query needs to know. */
export interface Context {
  readonly root: Root
  readonly limits: Limits
  readonly unknownFields: 'reject' | 'ignore'
  readonly view: View
  /** What the request's own paths reach. */
  readonly tally: Tally
}

export function contextOf(resource: Resource, unknownFields: Context['unknownFields'], view: View): Context {
  return {
    root: { fields: resource.byName, relations: resource.relations(), reach: null, depth: 0, collections: 0 },
    limits: resource.limits,
    unknownFields,
    view,
    tally: new Tally(resource.limits),
  }
}

/** The query parameter that a fault is told under. */
export type Parameter = string

/** One answer for what does not exist and for what this caller may not see. */
export function unknownField(parameter: Parameter, name: string, offset: number): Problem {
  const message = `Unknown field "${name}" at position ${offset}.`
  return problem('unknown-field', { errors: { [parameter]: [message] }, detail: `${parameter}: ${message}` })
}
