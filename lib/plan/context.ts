import type { Field } from '../../types/field.js'
import type { Limits } from '../../types/options.js'
import type { Hop } from '../../types/plan.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { type Problem, problem } from '../problem.js'

/** Where names are looked up: a resource itself, or what a relation reaches. */
export type Root = Pick<Reach, 'fields'> & { readonly relations: ReadonlyMap<string, Relation> }

/** What the planning of one request's query needs to know. */
export interface Context {
  readonly root: Root
  readonly limits: Limits
  readonly unknownFields: 'reject' | 'ignore'
  readonly view: View
}

/** What the caller may see, beyond what the resources allow everybody. */
export interface View {
  readonly readable: (field: Field) => boolean
  /** The hop over a relation, with the condition on its target's records; null where the caller may not cross it. */
  readonly cross: (relation: Relation, reach: Reach) => Hop | null
}

/** The view of a caller on whom no behaviour has a say. */
export const OPEN: View = Object.freeze({
  readable: () => true,
  cross: (relation: Relation) => ({ relation, guard: null }),
})

export function contextOf(resource: Resource, unknownFields: Context['unknownFields'], view: View): Context {
  return {
    root: { fields: resource.byName, relations: resource.relations() },
    limits: resource.limits,
    unknownFields,
    view,
  }
}

/** The query parameter that a fault is told under. */
export type Parameter = string

/** An error of meaning in a parameter. `offset` is where its clause begins. */
export function invalid(parameter: Parameter, message: string): Problem {
  return problem('invalid-query', { errors: { [parameter]: [message] }, detail: `${parameter}: ${message}` })
}

/** One answer for what does not exist and for what this caller may not see. */
export function unknownField(parameter: Parameter, name: string, offset: number): Problem {
  const message = `Unknown field "${name}" at position ${offset}.`
  return problem('unknown-field', { errors: { [parameter]: [message] }, detail: `${parameter}: ${message}` })
}
