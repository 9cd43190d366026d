import type { Field } from '../../types/field.js'
import type { DocumentComponents, JsonSchema, XCrud, XCrudField, XCrudRelation } from '../../types/openApi.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { Components, type Draft } from './components.js'
import { crossedOf, isFilterable, tokensOf } from './parameters.js'
import { createOf, updateOf } from './shapes.js'
import { type Subject, Subjects } from './subjects.js'
import { kindOf, withMembers } from './values.js'

/** `x-crud` without references. */
export interface Crud extends XCrud {
  readonly limits: Limits
  readonly relations: readonly CrudRelation[]
}

interface CrudRelation extends XCrudRelation {
  readonly fields: readonly XCrudField[]
}

/** The member `x-crud` of a resource's tag. */
export function crudOf(draft: Draft, subject: Subject): Crud {
  const { resource, names, path } = subject
  const { key, keys, operations, query, limits, keyset, softDeletes, versions, hub } = resource
  return {
    resource: names.one,
    path,
    key: { name: keys.map(({ json }) => json).join('~'), type: keys.length === 1 ? key.valueType.type : 'string' },
    operations: [...operations],
    fields: fieldsOf(resource.fields, [resource]),
    relations: crossedOf(subject).map(([relation, reach]) => relationOf(draft, subject, relation, reach)),
    quantifiers: ['Any', 'All', 'None', 'Count'],
    limits,
    pageSize: query.pageSize,
    maxPageSize: query.maxPageSize,
    keyset,
    softDeletes,
    versions,
    hub: hub?.name ?? null,
  }
}

function relationOf(draft: Draft, { at }: Subject, relation: Relation, { fields, resources }: Reach): CrudRelation {
  const [target] = resources
  return {
    name: relation.json,
    many: relation.many,
    resource: target === undefined ? null : draft.subjects.of(target, at).names.one,
    fields: fieldsOf([...fields.values()], resources),
  }
}

/** The fields that replies, bodies or queries can have. */
function fieldsOf(fields: readonly Field[], resources: readonly Resource[]): readonly XCrudField[] {
  const isPublic = (field: Field): boolean => field.targets.size > 0 || isFilterable(field) || field.sortable
  return withMembers(fields.filter(isPublic)).map((field) => {
    const masks = resources.flatMap(({ documented }) => documented.masks.get(field.name) ?? [])
    const read = masks.find((mask) => mask.read !== null)?.read
    const write = masks.find((mask) => mask.write !== null)?.write
    const { values } = field.valueType
    return {
      name: field.json,
      type: kindOf(field),
      nullable: field.nullable,
      operators: tokensOf(field),
      sortable: field.sortable,
      selectable: field.targets.has('list'),
      ...(values === undefined ? {} : { values }),
      ...(typeof read === 'string' ? { permission: read } : {}),
      ...(typeof write === 'string' ? { writePermission: write } : {}),
    }
  })
}

/** The parts of a document that programs need to read and write records of one resource. */
export interface Described {
  readonly crud: Crud
  readonly create: JsonSchema
  readonly update: JsonSchema
  /** The schemas of the bodies, and the schemas that these refer to. */
  readonly schemas: NonNullable<DocumentComponents['schemas']>
}

/** @throws CrudConfigError for a resource whose names no document can have */
export function assertDescribable(resource: Resource): void {
  new Subjects([resource])
}

export function described(resource: Resource): Described {
  const draft: Draft = { components: new Components(), subjects: new Subjects([resource]) }
  const subject = draft.subjects.of(resource, '')
  const [crud, create, update] = [crudOf(draft, subject), createOf(draft, subject), updateOf(draft, subject)]
  return { crud, create, update, schemas: draft.components.content.schemas ?? {} }
}
