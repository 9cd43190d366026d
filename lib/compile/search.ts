import type { Dialect } from '../../types/dialect.js'
import type { Field } from '../../types/field.js'
import type { Path } from '../../types/query.js'
import type { Search } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { parseSelect } from '../language/query.js'
import { type PathOrigin, resolveHostPath } from './hostPath.js'

/**
 * Compiles `query.search`. Its fields must be text fields that clients may read and filter by, of the resource or over
 * to-one relations. Full-text search accepts only own, unmasked fields, because the index does not depend on the
 * caller.
 *
 * @throws CrudConfigError for other fields
 */
export function createSearch(described: PathOrigin, dialect: Dialect): Search | null {
  const { search } = described.options.query ?? {}
  if (search === undefined) return null
  const where = `${described.model.name}: query.search:`
  const { fields, fullText = false } = 'fields' in search ? search : { fields: search }
  const paths = fields.map((path) => parseSearchPath(described, where, path))
  if (!fullText) return Object.freeze({ paths, fullText: null })
  if (dialect.fullText === null) {
    throw new CrudConfigError(
      'INVALID_OPTION',
      `${where} fullText: ${dialect.name} has no full-text search. Leave fullText out.`,
    )
  }
  return Object.freeze({ paths, fullText: paths.map((path) => requireIndexedField(described, where, path)) })
}

function parseSearchPath(described: PathOrigin, where: string, text: string): Path {
  const [path, ...others] = parsePaths(where, text)
  if (path === undefined || others.length > 0) {
    throw new CrudConfigError('INVALID_OPTION', `${where} "${text}" must be the path of a single field.`)
  }
  return resolveHostPath(
    described,
    { ...path, offset: 0 },
    {
      where,
      what: 'the readable and filterable text field',
      isAllowedField: isSearchable,
      isAllowedType: (type) => type === 'string',
    },
  )
}

function parsePaths(where: string, text: string): readonly Path[] {
  try {
    return parseSelect(text)
  } catch {
    throw new CrudConfigError('INVALID_OPTION', `${where} "${text}" must be the path of a single field.`)
  }
}

function isSearchable({ filterable, operators, targets }: Field): boolean {
  return filterable && operators.has('contains') && (targets.has('response') || targets.has('list'))
}

function requireIndexedField({ options, fields }: PathOrigin, where: string, { segments }: Path): Field {
  const [name, ...further] = segments
  const field = further.length === 0 ? fields.find((each) => each.json === name && isSearchable(each)) : undefined
  if (field === undefined) {
    throw new CrudConfigError(
      'INVALID_OPTION',
      `${where} fullText: "${segments.join('.')}" is a field of a related record. A full-text search supports only fields of the model itself.`,
    )
  }
  if (options.mask !== undefined && Object.hasOwn(options.mask, field.name)) {
    throw new CrudConfigError(
      'INVALID_OPTION',
      `${where} fullText: "${field.name}" is masked. A full-text search would find its values for every caller. Remove the field from fullText, or its mask.`,
    )
  }
  return field
}
