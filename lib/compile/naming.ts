import { inspect } from 'node:util'
import type { Model, ModelStatic } from 'sequelize'
import type { CrudOptions, FieldOptions, NamedKind } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { camelCase, isMemberName, MEMBER_NAME } from './names.js'
import { relationOptionOf } from './relationOptions.js'

/** The API names of a model's attributes and associations, in JSON, parameters and paths. */
export interface Naming {
  readonly field: (attribute: string) => string
  readonly relation: (association: string) => string
}

/**
 * Creates the API names of a model by the options. Each name is created once.
 *
 * @throws CrudConfigError on a call if `naming` returns no valid name
 */
export function createNaming(
  model: ModelStatic<Model>,
  { naming = 'camel', fields = {}, relations }: Pick<CrudOptions, 'naming' | 'fields' | 'relations'>,
): Naming {
  const options: Readonly<Record<string, FieldOptions | undefined>> = fields
  const makeName = (name: string, kind: NamedKind): string => {
    if (naming === 'camel') return camelCase(name)
    return naming === 'attribute' ? name : requireValidName(model, kind, name, naming(name, { model, kind }))
  }
  const relationName = (name: string): string | undefined => {
    const option = relationOptionOf(relations, name)
    // The check of relations reports an invalid option.
    return typeof option === 'object' && isMemberName(option.name) ? option.name : undefined
  }
  return Object.freeze({
    field: memoize(
      (name) => (Object.hasOwn(options, name) ? options[name]?.name : undefined) ?? makeName(name, 'field'),
    ),
    relation: memoize((name) => relationName(name) ?? makeName(name, 'relation')),
  })
}

/** Returns the names of a related model without a resource. */
export function relatedNamingOf(model: ModelStatic<Model>, { naming }: CrudOptions): Naming {
  return createNaming(model, naming === undefined ? {} : { naming })
}

function memoize(make: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    const found = known.get(name) ?? make(name)
    known.set(name, found)
    return found
  }
}

function requireValidName({ name: model }: ModelStatic<Model>, kind: NamedKind, name: string, given: unknown): string {
  if (typeof given === 'string' && isMemberName(given)) return given
  const what = kind === 'field' ? 'attribute' : 'association'
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${model}: naming: the name of the ${what} "${name}" must be ${MEMBER_NAME}, not ${inspect(given)}.`,
  )
}
