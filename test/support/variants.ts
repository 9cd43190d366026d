import type { CrudOptions, HookContext } from '../../lib/index.js'

/** One way of writing the records within a body. The same must be true of all of them. */
export interface Variant {
  readonly title: string
  readonly options: CrudOptions
  /** Whether code of the host's has a say in what is read, so that reading locks nothing. */
  readonly finds?: boolean
}

/** What the hooks of lines have heard, in order. */
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
