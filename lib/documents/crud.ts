import type { Field } from '../../types/field.js'
import type { XCrud, XCrudField, XCrudRelation } from '../../types/openApi.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import type { Draft } from './components.js'
import { kindOf, withMembers } from './fields.js'
import { crossedOf, isFilterable, tokensOf } from './filters.js'
import type { Subject } from './subjects.js'

const QUANTIFIERS: XCrud['quantifiers'] = ['Any', 'All', 'None', 'Count']

/** What a document says of a resource to programs. */
export function crudOf(draft: Draft, subject: Subject): XCrud {
  const { resource, names, path } = subject
  const { key, keys, operations, query, limits, keyset, softDeletes, versions, hub } = resource
  return {
    resource: names.one,
    path,
    key: {
      name: keys.map(({ json }) => json).join('~'),
      type: keys.length === 1 ? key.valueType.type : 'string',
    },
    operations: [...operations],
    fields: fieldsOf(resource.fields, [resource]),
    relations: crossedOf(subject).map(([relation, reach]) => relationOf(draft, subject, relation, reach)),
    quantifiers: QUANTIFIERS,
    limits,
    pageSize: query.pageSize,
    maxPageSize: query.maxPageSize,
    keyset,
    softDeletes,
    versions,
    hub: hub?.name ?? null,
  }
}

function relationOf(draft: Draft, { at }: Subject, relation: Relation, { fields, resources }: Reach): XCrudRelation {
  const [target] = resources
  return {
    name: relation.json,
    many: relation.many,
    resource: target === undefined ? null : draft.subjects.of(target, at).names.one,
    fields: fieldsOf([...fields.values()], resources),
  }
}

/** The fields that anybody can see or ask for. */
function fieldsOf(fields: readonly Field[], resources: readonly Resource[]): readonly XCrudField[] {
  const isTold = (field: Field): boolean => field.targets.size > 0 || isFilterable(field) || field.sortable
  return withMembers(fields.filter(isTold)).map((field) => {
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
