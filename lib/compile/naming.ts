import { inspect } from 'node:util'
import type { Model, ModelStatic } from 'sequelize'
import type { CrudOptions, FieldOptions, NamedKind } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { camelCase, isMemberName, MEMBER_NAME } from './names.js'
import { optionFor } from './relationOptions.js'

/** The API names of a model's attributes and associations, in JSON, parameters and paths. */
export interface Naming {
  readonly field: (attribute: string) => string
  readonly relation: (association: string) => string
}

/** Makes each name once, by the options. @throws CrudConfigError on a call if `naming` returns no valid name */
export function namingOf(
  model: ModelStatic<Model>,
  { naming = 'camel', fields = {}, relations }: Pick<CrudOptions, 'naming' | 'fields' | 'relations'>,
): Naming {
  const options: Readonly<Record<string, FieldOptions | undefined>> = fields
  const made = (name: string, kind: NamedKind): string => {
    if (naming === 'camel') return camelCase(name)
    return naming === 'attribute' ? name : checked(model, kind, name, naming(name, { model, kind }))
  }
  const relationName = (name: string): string | undefined => {
    const option = optionFor(relations, name)
    // Invalid options are reported by the check of relations.
    return typeof option === 'object' && isMemberName(option.name) ? option.name : undefined
  }
  return Object.freeze({
    field: once((name) => (Object.hasOwn(options, name) ? options[name]?.name : undefined) ?? made(name, 'field')),
    relation: once((name) => relationName(name) ?? made(name, 'relation')),
  })
}

/** The names of a related model without a resource. */
export function namingBehind(model: ModelStatic<Model>, { naming }: CrudOptions): Naming {
  return namingOf(model, naming === undefined ? {} : { naming })
}

function once(make: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const found = known.get(name) ?? make(name)
    known.set(name, found)
    return found
  }
}

function checked({ name: model }: ModelStatic<Model>, kind: NamedKind, name: string, given: unknown): string {
  if (typeof given === 'string' && isMemberName(given)) return given
  const what = kind === 'field' ? 'attribute' : 'association'
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${model}: naming: the name of the ${what} "${name}" must be ${MEMBER_NAME}, not ${inspect(given)}.`,
  )
}
