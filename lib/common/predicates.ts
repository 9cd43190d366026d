import type { Predicate } from '../../types/plan.js'

/** A condition of what is left of its parts; none left, no condition. */
export function junction(kind: 'and' | 'or', parts: readonly (Predicate | null)[]): Predicate | null {
  const nodes = parts.filter((part) => part !== null)
  const [only] = nodes
  if (only === undefined) return null
  return nodes.length === 1 ? only : { kind, nodes }
}
