import type { Deprecation } from '../../types/deprecated.js'
import type { JsonSchema } from '../../types/openApi.js'
import { type Members, TEXT, told } from '../codec/schema.js'

/** A sentence with the dates and the address of a deprecation. */
export function deprecationText({ since, sunset, link }: Deprecation): string {
  const end = sunset === null ? '' : `, to be removed from ${dayOf(sunset)}`
  return `Deprecated from ${dayOf(since)}${end}${link === null ? '' : `: ${link}`}.`
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** The schema of a field, marked where the field is deprecated. */
export function marked(
  schema: JsonSchema,
  { deprecated }: { readonly deprecated?: Deprecation | undefined },
): JsonSchema {
  return deprecated === undefined ? schema : told({ ...schema, deprecated: true }, deprecationText(deprecated))
}

/** The headers of every reply on the routes of a deprecated resource. */
export function deprecationHeaders(deprecation: Deprecation | null): Members {
  if (deprecation === null) return {}
  const { sunset, link } = deprecation
  return {
    Deprecation: { description: 'The date of the deprecation (RFC 9745).', schema: TEXT },
    ...(sunset === null ? {} : { Sunset: { description: 'The date of the removal (RFC 8594).', schema: TEXT } }),
    ...(link === null ? {} : { Link: { description: LINKS, schema: TEXT } }),
  }
}

const LINKS = 'A page for developers (`deprecation`), and the other pages of a list.'
