import type { DocumentSecurity, SecurityRequirement } from '../../types/openApi.js'
import { takesBearer } from '../identity/identity.js'
import { type Asked, decidedBy } from './asked.js'
import { type Draft, SHARED } from './components.js'

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'A JSON Web Token in the header `Authorization`.',
} as const

/**
 * What an operation asks of its callers: to say who they are where a policy decides, and to be free to where only what they
 * see depends on it. How, only `jwtIdentity` tells by itself.
 */
export function securityOf(
  draft: Draft,
  asks: readonly Asked[],
  given: DocumentSecurity | undefined,
): readonly SecurityRequirement[] {
  const decisions = asks.map(decidedBy)
  const decides = decisions.includes('always')
  const looks = asks.some(
    ({ subject: { resource } }) => resource.documented.masks.size > 0 || resource.documented.scoped,
  )
  if (!looks && decisions.every((each) => each === 'never')) return []
  const isBearer = asks.some(
    ({ subject: { resource } }) => resource.identity !== null && takesBearer(resource.identity),
  )
  const requirement = isBearer ? [{ bearerAuth: [] }] : (given?.requirement ?? [])
  if (requirement.length === 0) return []
  if (isBearer) draft.components.refer('securitySchemes', 'bearerAuth', SHARED, () => BEARER)
  for (const name of isBearer ? [] : requirement.flatMap((each) => Object.keys(each))) {
    const scheme = given?.schemes[name]
    if (scheme !== undefined) draft.components.refer('securitySchemes', name, scheme, () => ({ ...scheme }))
  }
  return decides ? requirement : [...requirement, {}]
}
