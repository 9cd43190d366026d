import type { DocumentSecurity, SecurityRequirement } from '../../types/openApi.js'
import { isBearerIdentity } from '../identity/identity.js'
import { policyCoverage, type RequiredPermission } from './requiredPermissions.js'
import type { DescribedResource } from './subjects.js'

/** Security schemes that the application describes. */
export type Security = DocumentSecurity | undefined

const BEARER_SCHEME = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'A JSON Web Token in the header `Authorization`.',
} as const

/**
 * Security requirements of an operation. Security is required if a policy is always evaluated, and optional if only
 * some requests depend on policies, masks or a scope. The scheme of `jwtIdentity` is built in. The application
 * describes other schemes.
 */
export function securityRequirements(
  { components }: DescribedResource,
  permissions: readonly RequiredPermission[],
  given: Security,
): readonly SecurityRequirement[] {
  const decisions = permissions.map(policyCoverage)
  const resources = permissions.map(({ subject }) => subject.resource)
  const looks = resources.some(({ documented }) => documented.masks.size > 0 || documented.isScoped)
  if (!looks && decisions.every((each) => each === 'never')) return []
  const isBearer = resources.some(({ identity }) => identity !== null && isBearerIdentity(identity))
  const requirement = isBearer ? [{ bearerAuth: [] }] : (given?.requirement ?? [])
  if (requirement.length === 0) return []
  const schemes: DocumentSecurity['schemes'] = isBearer ? { bearerAuth: BEARER_SCHEME } : (given?.schemes ?? {})
  for (const name of requirement.flatMap((each) => Object.keys(each))) {
    const scheme = schemes[name]
    if (scheme !== undefined) components.referTo('securitySchemes', name, () => ({ ...scheme }), scheme)
  }
  return decisions.includes('always') ? requirement : [...requirement, {}]
}
