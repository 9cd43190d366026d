import type { Resource } from '../../types/resource.js'
import type { ShapeNames } from '../../types/settings.js'
import { typeName } from '../compile/names.js'
import { pluralize, pluralOf } from '../sequelize/plurals.js'
import { invalidOption, nameClashError } from './components.js'

/**
 * Names of a resource's parts in documents. The names are a public interface, because clients are generated from
 * documents.
 */
export interface Names {
  /** Name of a record in operations and components: `Player`. */
  readonly one: string
  /** Name of several records, and of the tag: `Players`. */
  readonly many: string
  readonly create: string
  readonly update: string
  readonly list: string
}

/** A resource of a document with the names from its entry. */
interface NamedEntry {
  readonly resource: Resource
  readonly names: ShapeNames
}

/**
 * Returns a function that names the resources of a document and the resources behind their relations. Names of the
 * entry override names in the resource's options. Automatic names that collide are changed, independent of the order of
 * resources.
 *
 * @throws CrudConfigError for names that are not allowed in a document
 */
export function createNamer(entries: readonly NamedEntry[]): (entry: NamedEntry) => Names {
  const models = groupByKey(entries.filter(isDerivedName).map(({ resource: { name } }) => [typeName(name), name]))
  const nameEntry = (entry: NamedEntry): Names => {
    const { resource, names } = entry
    const isShared = isDerivedName(entry) && hasOtherMember(models, typeName(resource.name), resource.name)
    return createNames(resource, isShared ? { ...names, response: distinctSpelling(resource.name) } : names)
  }
  const owners = groupByKey(
    entries.map(nameEntry).flatMap(({ one, many }) => [[one, one] as const, [many, one] as const]),
  )
  return (entry) => {
    const { many, ...names } = nameEntry(entry)
    // For example, the models `Device` and `Devices` both have the plural `Devices`.
    return { ...names, many: hasOtherMember(owners, many, names.one) ? `${names.one}_Records` : many }
  }
}

type Groups = ReadonlyMap<string, ReadonlySet<string>>

function groupByKey(pairs: readonly (readonly [key: string, member: string])[]): Groups {
  const all = new Map<string, Set<string>>()
  for (const [key, member] of pairs) all.set(key, (all.get(key) ?? new Set()).add(member))
  return all
}

/** Whether the group has another member. */
function hasOtherMember(all: Groups, key: string, own: string): boolean {
  return [...(all.get(key) ?? [])].some((member) => member !== own)
}

function isDerivedName({ resource, names: { response = resource.names.response } }: NamedEntry): boolean {
  return response === typeName(resource.name)
}

/**
 * Writes a model name so that it differs from similar names. `order_line` becomes `Order_Line`. `orderLine` becomes
 * `OrderLine_` beside a model `OrderLine`.
 */
function distinctSpelling(name: string): string {
  const type = typeName(name)
  const spelt = name
    .split(/[^\p{L}\p{N}]+/u)
    .map(typeName)
    .filter((word) => word !== '')
    .join('_')
  if (name === type) return type
  return spelt === type ? `${type}_` : spelt
}

function createNames({ name, model, names }: Resource, given: ShapeNames): Names {
  const one = given.response ?? names.response
  // If the entry has `names.response`, the other default names are derived from it.
  const deriveName = (own: string, end: string): string => (own === names.response + end ? one + end : own)
  const all: Names = {
    one,
    many: one === typeName(name) ? typeName(pluralOf(model)) : pluralize(one),
    create: given.create ?? deriveName(names.create, 'Create'),
    update: given.update ?? deriveName(names.update, 'Update'),
    list: given.list ?? deriveName(names.list, 'ListItem'),
  }
  const wrong = Object.values(all).find((each) => !/^[A-Za-z0-9._-]+$/.test(each))
  if (wrong === undefined) return all
  throw invalidOption(
    `${name}: names: "${wrong}" cannot be a name in an OpenAPI document. Such names contain letters from A to Z, digits, ".", "_" and "-". Set names.response.`,
  )
}

/** A resource in a document, with its names and path. */
interface NamedResource {
  readonly resource: Resource
  readonly names: Names
  readonly path: string
}

/**
 * Checks that the names of resources are distinct.
 *
 * @param spell writes a name in the form that must be distinct
 *
 * @throws CrudConfigError if the host chose a name that another resource has, or if two resources over one model have
 * equal operation names
 */
export function assertDistinctResourceNames(
  subjects: readonly NamedResource[],
  spell: (name: string) => string = (name) => name,
): void {
  const owners = new Map<string, NamedResource>()
  for (const subject of subjects) {
    const { one, create, update, list } = subject.names
    for (const name of new Set([one, create, update, list].map(spell))) {
      const other = owners.get(name) ?? subject
      owners.set(name, other)
      if (other === subject) continue
      const chosen = [subject, other].find(hasChosenNames) ?? (hasNameConflict(subject, other) ? subject : null)
      if (chosen === null) continue
      const { resource, path, names } = chosen
      const message = `Two resources of the document would have the name "${name}"`
      throw nameClashError(message, `${resource.name} at ${path}`, names.one)
    }
  }
}

function hasChosenNames({ resource: { name }, names: { one, create, update, list } }: NamedResource): boolean {
  const isOwn = one === typeName(name) || one === distinctSpelling(name)
  return !isOwn || create !== `${one}Create` || update !== `${one}Update` || list !== `${one}ListItem`
}

/** Operations without a record schema. */
const OPERATIONS_WITHOUT_SCHEMA: ReadonlySet<string> = new Set(['delete', 'bulkDelete'])

/** Whether two resources with one name have a common operation name, or both have a record schema. */
function hasNameConflict(
  { names, resource: { operations: one } }: NamedResource,
  { names: { one: name }, resource }: NamedResource,
): boolean {
  const others = [...resource.operations]
  const hasSchema = (operations: readonly string[]): boolean =>
    operations.some((each) => !OPERATIONS_WITHOUT_SCHEMA.has(each))
  return names.one === name && (others.some((each) => one.has(each)) || (hasSchema([...one]) && hasSchema(others)))
}
