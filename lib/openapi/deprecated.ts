import type { Deprecation } from '../../types/deprecated.js'
import type { JsonSchema } from '../../types/openApi.js'
import { describeSchema, type SchemaMembers, TEXT } from '../codec/schema.js'

/** Sentence with the dates and the link of a deprecation. */
export function describeDeprecation({ since, sunset, link }: Deprecation): string {
  const end = sunset === null ? '' : `, to be removed from ${formatDay(sunset)}`
  return `Deprecated from ${formatDay(since)}${end}${link === null ? '' : `: ${link}`}.`
}

function formatDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** Schema of a field, with `deprecated` if the field is deprecated. */
export function markDeprecated(
  schema: JsonSchema,
  { deprecated }: { readonly deprecated?: Deprecation | undefined },
): JsonSchema {
  return deprecated === undefined
    ? schema
    : describeSchema({ ...schema, deprecated: true }, describeDeprecation(deprecated))
}

/** Headers of every response of a deprecated resource. */
export function deprecationHeaders(deprecation: Deprecation | null): SchemaMembers {
  if (deprecation === null) return {}
  const { sunset, link } = deprecation
  return {
    Deprecation: { description: 'The date of the deprecation (RFC 9745).', schema: TEXT },
    ...(sunset === null ? {} : { Sunset: { description: 'The date of the removal (RFC 8594).', schema: TEXT } }),
    ...(link === null ? {} : { Link: { description: LINK_DESCRIPTION, schema: TEXT } }),
  }
}

const LINK_DESCRIPTION = 'Documentation of the deprecation (`deprecation`), and the other pages of a list.'
