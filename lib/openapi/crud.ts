import type { Action } from '../../types/action.js'
import type { Deprecation } from '../../types/deprecated.js'
import type { Field } from '../../types/field.js'
import type {
  DocumentComponents,
  JsonSchema,
  XCrud,
  XCrudAction,
  XCrudField,
  XCrudItems,
  XCrudRelation,
} from '../../types/openApi.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { isComputing } from '../common/columns.js'
import { joiSchema } from './joi.js'
import { crossedOf, isFilterable, tokensOf } from './parameters.js'
import { createOf, updateOf } from './shapes.js'
import { type Subject, subjectsOf } from './subjects.js'
import { kindOf, withMembers } from './values.js'

/** `x-crud` without references. */
export interface Crud extends XCrud {
  readonly limits: Limits
  readonly relations: readonly (XCrudRelation & { readonly fields: readonly XCrudField[] })[]
}

export function crudOf(subject: Subject): Crud {
  const { resource, names, path } = subject
  const { key, keys, operations, query, limits, keyset, softDeletes, versions, hub } = resource
  const resourceOf = ([target]: Reach['resources']): string | null =>
    target === undefined ? null : subject.of(target).names.one
  return {
    resource: names.one,
    path,
    key: { name: keys.map(({ json }) => json).join('~'), type: keys.length === 1 ? key.valueType.type : 'string' },
    operations: [...operations],
    fields: fieldsOf([...resource.fields, ...resource.computed], [resource]),
    relations: crossedOf(subject).map(([{ json, many, link }, { fields, resources }]) => ({
      name: json,
      many,
      resource: resourceOf(resources),
      fields: fieldsOf([...fields.values()], resources),
      ...linkIn(link?.row() ?? null, resourceOf),
    })),
    ...(resource.actions.size === 0 ? {} : { actions: [...resource.actions.values()].map(actionOf) }),
    quantifiers: ['Any', 'All', 'None', 'Count'],
    limits,
    pageSize: query.pageSize,
    maxPageSize: query.maxPageSize,
    keyset,
    softDeletes,
    ...(resource.behaviours.ownKey === null ? {} : { singleton: true as const }),
    versions,
    ...deprecatedIn(resource.documented.deprecated ?? undefined),
    hub: hub?.name ?? null,
  }
}

export function actionOf({ name, on, method, path, output, input }: Action): XCrudAction {
  const told = { name, on, method, path: path.replace(':id', '{id}'), output }
  return input === null ? told : { ...told, input: joiSchema(input) }
}

function deprecatedIn(deprecation: Deprecation | undefined): Pick<XCrudField, 'deprecated'> {
  if (deprecation === undefined) return {}
  const { since, sunset, link } = deprecation
  return {
    deprecated: {
      since: since.toISOString(),
      ...(sunset === null ? {} : { sunset: sunset.toISOString() }),
      ...(link === null ? {} : { link }),
    },
  }
}

function linkIn(
  row: Relation | null,
  resourceOf: (resources: Reach['resources']) => string | null,
): Pick<XCrudRelation, 'link'> {
  const reach = row?.reach() ?? null
  if (row === null || reach === null) return {}
  const { fields, resources } = reach
  return {
    link: { name: row.json, resource: resourceOf(resources), fields: fieldsOf([...fields.values()], resources) },
  }
}

/** Fields of responses, bodies or queries. */
function fieldsOf(fields: readonly Field[], resources: readonly Resource[]): readonly XCrudField[] {
  const isPublic = (field: Field): boolean => field.targets.size > 0 || isFilterable(field) || field.sortable
  return withMembers(fields.filter(isPublic)).map((field) => {
    const masks = resources.flatMap(({ documented }) => documented.masks.get(field.name) ?? [])
    const read = masks.find((mask) => mask.read !== null)?.read ?? null
    const write = masks.find((mask) => mask.write !== null)?.write ?? null
    const { values } = field.valueType
    // A list of texts has operators of its own, which describe its items.
    const isPlain = field.item === undefined || field.operators.size > 0
    const items = isPlain ? null : { ...field.item, filterable: field.filterable }
    return {
      name: field.json,
      type: kindOf(field),
      nullable: field.nullable,
      operators: tokensOf(field),
      sortable: field.sortable,
      selectable: field.targets.has('list'),
      ...(isComputing(field) ? { computed: true as const } : {}),
      ...deprecatedIn(field.deprecated),
      ...(values === undefined ? {} : { values }),
      ...(items === null ? {} : { items: itemsOf(items) }),
      ...(read === null ? {} : { permission: read }),
      ...(write === null ? {} : { writePermission: write }),
    }
  })
}

function itemsOf(item: Field): XCrudItems {
  const { type, values } = item.valueType
  return { type, operators: tokensOf(item), ...(values === undefined ? {} : { values }) }
}

/** Parts of a document that a program needs to read and write records of one resource. */
export interface Described {
  readonly crud: Crud
  readonly create: JsonSchema
  readonly update: JsonSchema
  /** Schemas of the bodies, with all schemas that they refer to. */
  readonly schemas: NonNullable<DocumentComponents['schemas']>
}

/** @throws CrudConfigError for a resource whose names are not allowed in a document */
export function assertDescribable(resource: Resource): void {
  subjectsOf([resource])
}

export function described(resource: Resource): Described {
  const [subject] = subjectsOf([resource])
  const [crud, create, update] = [crudOf(subject), createOf(subject), updateOf(subject)]
  return { crud, create, update, schemas: subject.components.content.schemas ?? {} }
}
