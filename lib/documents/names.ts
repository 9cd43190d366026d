import type { Resource } from '../../types/resource.js'
import type { ShapeNames } from '../../types/settings.js'
import { CrudConfigError } from '../common/errors.js'
import { typeName } from '../compile/names.js'
import { pluralize, pluralOf } from '../sequelize/words.js'

/** What documents call the parts of a resource. They are an interface: clients are generated from them. */
export interface Names {
  /** One of its records, as operations and components are named after it: `Player`. */
  readonly one: string
  /** Several of them, and the tag: `Players`. */
  readonly many: string
  readonly create: string
  readonly update: string
  readonly list: string
}

/** The names of a resource; those given here win over its own. */
export function namesOf({ name, model, names }: Resource, given: ShapeNames = {}): Names {
  const one = given.response ?? names.response
  // Names that follow from another one follow from that one.
  const derived = (own: string, end: string): string => (own === names.response + end ? one + end : own)
  const many = one === typeName(name) ? typeName(pluralOf(model)) : pluralize(one)
  const all: Names = {
    one,
    many,
    create: given.create ?? derived(names.create, 'Create'),
    update: given.update ?? derived(names.update, 'Update'),
    list: given.list ?? derived(names.list, 'ListItem'),
  }
  const wrong = Object.values(all).find((each) => !/^[A-Za-z0-9._-]+$/.test(each))
  if (wrong === undefined) return all
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${name}: names: "${wrong}" cannot be a name in a document, which has letters from A to Z, digits, ".", "_" and "-": say names.response.`,
  )
}
