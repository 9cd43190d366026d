import type { ActionOptions } from '../../types/action.js'
import type { OperationName } from '../../types/resource.js'

const EQUIVALENT_OPERATIONS: Readonly<
  Record<ActionOptions['on'], Readonly<Record<ActionOptions['method'], OperationName>>>
> = {
  record: { post: 'update', get: 'getById' },
  collection: { post: 'create', get: 'getList' },
}

/** Returns the operation whose policy and scope apply to an action. */
export function equivalentOperation({ on, method }: Pick<ActionOptions, 'on' | 'method'>): OperationName {
  return EQUIVALENT_OPERATIONS[on]?.[method] ?? 'update'
}
