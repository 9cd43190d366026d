import type { CrudOptions, HookContext } from '../../lib/index.js'

/** One form of nested writes. All forms must have the same result. */
export interface Variant {
  readonly title: string
  readonly options: CrudOptions
  /** Whether find hooks of the host affect reads, so that reads take no locks. */
  readonly finds?: boolean
}

/** Calls of the lines' hooks, in order. */
export const hooked: string[] = []

const told =
  (name: string) =>
  ({ instance, operation }: HookContext): void => {
    hooked.push(`${name} ${operation} ${instance.get('product')}`)
  }

export const VARIANTS: readonly Variant[] = [
  { title: 'by statements', options: {} },
  { title: 'read by instances', options: {}, finds: true },
  {
    title: 'by instances',
    options: { hooks: { afterCreate: told('created'), afterUpdate: told('updated'), afterDelete: told('deleted') } },
  },
]
