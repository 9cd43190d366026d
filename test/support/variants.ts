import type { CrudOptions, HookContext } from '../../lib/index.js'

/** One form of nested writes. All forms must have equal results. */
export interface Variant {
  readonly title: string
  readonly options: CrudOptions
  /** Whether the host has find hooks. Reads with find hooks take no locks. */
  readonly finds?: boolean
}

/** Calls of hooks on order lines, in their order. */
export const hooked: string[] = []

const noteHook =
  (name: string) =>
  ({ instance, operation }: HookContext): void => {
    hooked.push(`${name} ${operation} ${instance.get('product')}`)
  }

export const VARIANTS: readonly Variant[] = [
  { title: 'by statements', options: {} },
  { title: 'read by instances', options: {}, finds: true },
  {
    title: 'by instances',
    options: {
      hooks: { afterCreate: noteHook('created'), afterUpdate: noteHook('updated'), afterDelete: noteHook('deleted') },
    },
  },
]
