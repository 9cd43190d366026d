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
import type { ModelAccess, Relation, Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { isComputedField } from '../common/columns.js'
import { convertJoi } from './joi.js'
import { isFilterable, operatorTokensOf, queryableRelationsOf } from './parameters.js'
import { buildCreateSchema, buildUpdateSchema } from './shapes.js'
import { createSubjects, type DescribedResource } from './subjects.js'
import { expandMembers, valueKindOf } from './values.js'

/** `x-crud` without references. */
export interface ResourceExtension extends XCrud {
  readonly limits: Limits
  readonly relations: readonly (XCrudRelation & { readonly fields: readonly XCrudField[] })[]
}

export function describeCrud(subject: DescribedResource): ResourceExtension {
  const { resource, names, path } = subject
  const { key, keys, operations, query, limits, keyset, softDeletes, versions, hub } = resource
  const resourceNameOf = ([target]: ModelAccess['resources']): string | null =>
    target === undefined ? null : subject.subjectOf(target).names.one
  return {
    resource: names.one,
    path,
    key: { name: keys.map(({ json }) => json).join('~'), type: keys.length === 1 ? key.valueType.type : 'string' },
    operations: [...operations],
    fields: describeFields([...resource.fields, ...resource.computed], [resource]),
    relations: queryableRelationsOf(subject).map(([{ json, many, joinModel }, { fields, resources }]) => ({
      name: json,
      many,
      resource: resourceNameOf(resources),
      fields: describeFields([...fields.values()], resources),
      ...describeJoinRow(joinModel?.joinRow() ?? null, resourceNameOf),
    })),
    ...(resource.actions.size === 0 ? {} : { actions: [...resource.actions.values()].map(describeAction) }),
    quantifiers: ['Any', 'All', 'None', 'Count'],
    limits,
    pageSize: query.pageSize,
    maxPageSize: query.maxPageSize,
    keyset,
    softDeletes,
    ...(resource.behaviours.ownKey === null ? {} : { singleton: true as const }),
    versions,
    ...describeDeprecated(resource.documented.deprecated ?? undefined),
    hub: hub?.name ?? null,
  }
}

function describeAction({ name, on, method, path, output, input }: Action): XCrudAction {
  const described = { name, on, method, path: path.replace(':id', '{id}'), output }
  return input === null ? described : { ...described, input: convertJoi(input) }
}

function describeDeprecated(deprecation: Deprecation | undefined): Pick<XCrudField, 'deprecated'> {
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

function describeJoinRow(
  row: Relation | null,
  resourceOf: (resources: ModelAccess['resources']) => string | null,
): Pick<XCrudRelation, 'link'> {
  const access = row?.resolveTarget() ?? null
  if (row === null || access === null) return {}
  const { fields, resources } = access
  return {
    link: { name: row.json, resource: resourceOf(resources), fields: describeFields([...fields.values()], resources) },
  }
}

/** Describes the fields that responses, bodies or queries can contain. */
function describeFields(fields: readonly Field[], resources: readonly Resource[]): readonly XCrudField[] {
  const isPublic = (field: Field): boolean => field.targets.size > 0 || isFilterable(field) || field.sortable
  return expandMembers(fields.filter(isPublic)).map((field) => {
    const masks = resources.flatMap(({ documented }) => documented.masks.get(field.name) ?? [])
    const read = masks.find((mask) => mask.read !== null)?.read ?? null
    const write = masks.find((mask) => mask.write !== null)?.write ?? null
    const { values } = field.valueType
    // A list of texts has its own operators, which describe its items.
    const isPlain = field.item === undefined || field.operators.size > 0
    const items = isPlain ? null : { ...field.item, filterable: field.filterable }
    return {
      name: field.json,
      type: valueKindOf(field),
      nullable: field.nullable,
      operators: operatorTokensOf(field),
      sortable: field.sortable,
      selectable: field.targets.has('list'),
      ...(isComputedField(field) ? { computed: true as const } : {}),
      ...describeDeprecated(field.deprecated),
      ...(values === undefined ? {} : { values }),
      ...(items === null ? {} : { items: describeItems(items) }),
      ...(read === null ? {} : { permission: read }),
      ...(write === null ? {} : { writePermission: write }),
    }
  })
}

function describeItems(item: Field): XCrudItems {
  const { type, values } = item.valueType
  return { type, operators: operatorTokensOf(item), ...(values === undefined ? {} : { values }) }
}

/** Parts of a document that a program needs to read and write records of one resource. */
export interface ResourceDescription {
  readonly crud: ResourceExtension
  readonly create: JsonSchema
  readonly update: JsonSchema
  /** Schemas of the bodies, with all schemas that they refer to. */
  readonly schemas: NonNullable<DocumentComponents['schemas']>
}

/** Checks that a resource can be described. @throws CrudConfigError for names that are not allowed in a document */
export function assertDescribable(resource: Resource): void {
  createSubjects([resource])
}

export function describeForClients(resource: Resource): ResourceDescription {
  const [subject] = createSubjects([resource])
  const [crud, create, update] = [describeCrud(subject), buildCreateSchema(subject), buildUpdateSchema(subject)]
  return { crud, create, update, schemas: subject.components.content.schemas ?? {} }
}
