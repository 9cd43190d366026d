import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { BodyKey, ErrorsByPlace } from '../../types/work.js'
import { BodyErrors, errorsAt } from '../common/bodyErrors.js'
import { omitMembers } from '../common/object.js'
import { isSameValue } from '../common/sameValue.js'
import { type Body, memberOf } from './members.js'

/** An attribute that connects a record to others, so that bodies cannot choose its value. */
export interface ConnectingAttribute {
  readonly field: Field
  readonly code: BodyKey['end']
  /** The value as JSON; undefined if only the database knows it. */
  readonly value: unknown
  /**
   * Whether bodies must contain exactly this value. Otherwise the database compares texts, because its collation may
   * treat different texts as equal.
   */
  readonly isExact?: boolean
}

/**
 * Removes connecting attributes from a body. Correct values are accepted, so that clients can send back a record that
 * they have read. `wrong` has errors of wrong values; `stated` has values that the database must compare.
 */
export function removeConnectingAttributes(
  resource: Resource,
  body: Body,
  ends: readonly ConnectingAttribute[],
  prefix: string,
): { readonly body: Body; readonly wrong: ErrorsByPlace; readonly stated: readonly BodyKey[] } {
  const named = ends.filter(({ field }) => hasBodyName(resource, field))
  const wrong = new BodyErrors()
  const stated: BodyKey[] = []
  for (const { field, code, value, isExact = false } of named) {
    const given = memberOf(body, field.json)
    if (given === undefined || isSameValue(field, given, value)) continue
    const place = prefix + field.json
    const isOpen = !isExact && (value === undefined || field.valueType.type === 'string')
    if (isOpen && given !== null) stated.push({ place, end: code, value: given })
    else wrong.add(errorsAt(resource, [place], code))
  }
  return { body: omitMembers(body, new Set(named.map(({ field }) => field.json))), wrong: wrong.all, stated }
}

/** Whether the field's name in bodies means this field. Another field may have the name of an excluded attribute. */
export function hasBodyName({ byName }: Resource, field: Field): boolean {
  return byName.get(field.json.toLowerCase()) === field
}
