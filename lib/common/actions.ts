import type { ActionOptions } from '../../types/action.js'
import type { OperationName } from '../../types/resource.js'

const STANDS_FOR: Readonly<Record<ActionOptions['on'], Readonly<Record<ActionOptions['method'], OperationName>>>> = {
  record: { post: 'update', get: 'getById' },
  collection: { post: 'create', get: 'getList' },
}

/** The operation that policies and scope see of an action, by where it is and what it does. */
export function stoodFor({ on, method }: Pick<ActionOptions, 'on' | 'method'>): OperationName {
  return STANDS_FOR[on]?.[method] ?? 'update'
}
