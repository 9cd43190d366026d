import type { ActionOptions } from '../../types/action.js'
import type { OperationName } from '../../types/resource.js'

const STANDS_FOR: Readonly<Record<ActionOptions['on'], Readonly<Record<ActionOptions['method'], OperationName>>>> = {
  record: { post: 'update', get: 'getById' },
  collection: { post: 'create', get: 'getList' },
}

/** The operation of an action, for policies and the scope. */
export function stoodFor({ on, method }: Pick<ActionOptions, 'on' | 'method'>): OperationName {
  return STANDS_FOR[on]?.[method] ?? 'update'
}
