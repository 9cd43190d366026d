import type { Limits } from '../../types/options.js'
import type { View } from '../../types/plan.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { type Problem, problem } from '../problem.js'

/** Where names are looked up: a resource itself, or what a relation reaches. */
export interface Root {
  readonly fields: Reach['fields']
  readonly relations: ReadonlyMap<string, Relation>
  /** Null at the resource itself. */
  readonly reach: Reach | null
}

/** The names behind a relation as the start of paths. */
export function rootAt(reach: Reach): Root {
  return { fields: reach.fields, relations: reach.relations, reach }
}

/** What the planning of one request's query needs to know. */
export interface Context {
  readonly root: Root
  readonly limits: Limits
  readonly unknownFields: 'reject' | 'ignore'
  readonly view: View
}

export function contextOf(resource: Resource, unknownFields: Context['unknownFields'], view: View): Context {
  return {
    root: { fields: resource.byName, relations: resource.relations(), reach: null },
    limits: resource.limits,
    unknownFields,
    view,
  }
}

/** The query parameter that a fault is told under. */
export type Parameter = string

/** One answer for what does not exist and for what this caller may not see. */
export function unknownField(parameter: Parameter, name: string, offset: number): Problem {
  const message = `Unknown field "${name}" at position ${offset}.`
  return problem('unknown-field', { errors: { [parameter]: [message] }, detail: `${parameter}: ${message}` })
}
