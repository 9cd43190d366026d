import type { ApiDocsOptions, DocumentOptions } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import { unknownName } from '../config/suggest.js'

export const DOCUMENT_OPTIONS: readonly (keyof DocumentOptions)[] = ['resources', 'info', 'servers', 'security']
export const DOCS_OPTIONS: readonly (keyof ApiDocsOptions)[] = [...DOCUMENT_OPTIONS, 'path', 'ui']

/**
 * For those who have no compiler to tell them: a document without a title is none, and a misspelt option would be left out.
 *
 * @throws CrudConfigError for options that do not exist, and for an `info` that is none
 */
export function assertOptions(options: DocumentOptions, maker: string, names: readonly string[]): void {
  const given: unknown = options
  if (given === undefined || given === null)
    throw new CrudConfigError('INVALID_OPTION', `${maker}: options are missing.`)
  // Routers are functions.
  if (typeof given !== 'object' || Array.isArray(given))
    throw new CrudConfigError('INVALID_OPTION', `${maker}: the argument must be an object with "resources" and "info".`)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) throw unknownName('UNKNOWN_OPTION', `${maker}: the option`, unknown, names)
  const { title, version } = Object(Object(given).info)
  if (typeof title === 'string' && typeof version === 'string') return
  throw new CrudConfigError('INVALID_OPTION', `${maker}: info must be an object with the texts "title" and "version".`)
}
