import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { Faults, StatedKey } from '../../types/work.js'
import { BodyErrors, errorsAt } from '../common/bodyErrors.js'
import { without } from '../common/object.js'
import { isSameValue } from '../common/same.js'
import { type Body, memberOf } from './members.js'

/** An attribute of a record that is not the body's to choose, since it connects the record to others. */
export interface End {
  readonly field: Field
  readonly code: StatedKey['end']
  /** The value as JSON; undefined if only the database tells it. */
  readonly value: unknown
  /** Whether bodies must state just this value. Else the database compares texts: it may take others for equal. */
  readonly isExact?: boolean
}

/**
 * A body without some attributes. Right values of them are accepted, so that what was read can be sent back. `wrong` are the errors of
 * values that are wrong for sure, `stated` the values that the database has to compare.
 */
export function withoutEnds(
  resource: Resource,
  body: Body,
  ends: readonly End[],
  prefix: string,
): { readonly body: Body; readonly wrong: Faults; readonly stated: readonly StatedKey[] } {
  const named = ends.filter(({ field }) => isNamed(resource, field))
  const wrong = new BodyErrors()
  const stated: StatedKey[] = []
  for (const { field, code, value, isExact = false } of named) {
    const given = memberOf(body, field.json)
    if (given === undefined || isSameValue(field, given, value)) continue
    const place = prefix + field.json
    const isOpen = !isExact && (value === undefined || field.valueType.type === 'string')
    if (isOpen && given !== null) stated.push({ place, end: code, value: given })
    else wrong.add(errorsAt(resource, [place], code))
  }
  return { body: without(body, new Set(named.map(({ field }) => field.json))), wrong: wrong.all, stated }
}

/** Whether the name of a field in bodies is its own: an excluded attribute's may be that of another field. */
export function isNamed({ byName }: Resource, field: Field): boolean {
  return byName.get(field.json.toLowerCase()) === field
}
