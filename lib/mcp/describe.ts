import type { JsonSchema, XCrudField } from '../../types/openApi.js'
import type { Caller } from '../../types/plan.js'
import type { ModelAccess, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { isPermitted } from '../behaviour/mask.js'
import { authorizeResources, resourcesOfStep } from '../plan/index.js'
import type { Permissions } from './permissions.js'
import type { ToolResource } from './toolResource.js'

/**
 * Describes a resource to a caller. The description has only fields and relations that the caller may use in queries.
 */
export async function describeResource(
  { resource, describe }: ToolResource,
  { caller, allowed, actions }: Permissions,
  nameOf: (resource: Resource) => string | null,
): Promise<object> {
  const { crud, create, update, schemas } = describe()
  const isPermittedFor = (permission: unknown): boolean =>
    typeof permission !== 'string' || isPermitted(caller.identity, permission)
  const { view, fieldsByRelation } = await findQueryableView(resource, caller)
  const describeFields = (
    described: readonly XCrudField[],
    fields: ModelAccess['fields'],
    access: ModelAccess | null,
  ): readonly XCrudField[] =>
    described
      .filter(({ name }) => {
        // A member of a JSON column is readable if its column is readable.
        const field = fields.get(name.toLowerCase()) ?? fields.get(name.split('.')[0]?.toLowerCase() ?? '')
        return field !== undefined && view.readable(field, access)
      })
      .map(({ permission: _, writePermission: __, ...field }) => field)
  const resourceNameOf = ({ resources: [target] }: ModelAccess): string | null =>
    target === undefined ? null : nameOf(target)
  const relations = crud.relations.flatMap(({ name, many, fields, link }) => {
    const { access, row } = fieldsByRelation.get(name) ?? {}
    if (access === undefined) return []
    const member = {
      name,
      many,
      resource: resourceNameOf(access),
      fields: describeFields(fields, access.fields, access),
    }
    if (link === undefined || row === undefined || row === null) return [member]
    const own = { name: link.name, resource: resourceNameOf(row), fields: describeFields(link.fields, row.fields, row) }
    return [{ ...member, link: own }]
  })
  const { key, versions, quantifiers, singleton } = crud
  const fields = describeFields(crud.fields, resource.byName, null)
  const runnable = (crud.actions ?? [])
    .filter(({ name }) => actions.has(name))
    .map(({ path: _, method: __, ...each }) => each)
  return {
    ...(singleton === true ? { singleton } : { key }),
    versions,
    fields,
    relations,
    ...(relations.some(({ many }) => many) || fields.some(({ items }) => items !== undefined) ? { quantifiers } : {}),
    ...(runnable.length === 0 ? {} : { actions: runnable }),
    ...(await describeBodies({ resource, caller, isPermittedFor, schemas }, allowed, { create, update })),
  }
}

/** Fields of a related resource, and fields of the join row. `row` is null if there is no join model. */
interface RelationFields {
  readonly access: ModelAccess
  readonly row: ModelAccess | null
}

/** Resolves the fields that the caller may read, and the relations that the caller may use in paths, by name. */
async function findQueryableView(
  resource: Resource,
  caller: Caller,
): Promise<{ readonly view: View; readonly fieldsByRelation: ReadonlyMap<string, RelationFields> }> {
  const all = [...resource.relations().values()].flatMap((relation) => {
    const access = relation.resolveTarget()
    return access === null ? [] : [{ relation, access, from: null }]
  })
  const view = await authorizeResources(resource, new Set(all.flatMap(resourcesOfStep)), caller)
  const open = all.filter((step) => view.join(step) !== null)
  const fieldsByRelation = open.map(({ relation, access }) => {
    return [relation.json, { access, row: relation.joinModel?.joinRow()?.resolveTarget() ?? null }] as const
  })
  return { view, fieldsByRelation: new Map(fieldsByRelation) }
}

/** Reduces the schema of a body to members that the caller may write. */
function filterWritable(
  schema: JsonSchema,
  isOpen: (permission: unknown) => boolean,
  closed: ReadonlySet<string>,
): JsonSchema {
  const { properties, required } = schema
  const all = Object.entries<JsonSchema>(Object(properties))
  const open = all.filter(([name, each]) => isOpen(each['x-permission']) && each.readOnly !== true && !closed.has(name))
  const names = new Set(open.map(([name]) => name))
  const requiredNames = Array.isArray(required) ? required.filter((name) => names.has(name)) : []
  const { required: _, ...others } = schema
  const written = open.map(([name, { 'x-permission': __, ...each }]) => [name, each])
  return {
    ...others,
    ...(requiredNames.length === 0 ? {} : { required: requiredNames }),
    properties: Object.fromEntries(written),
  }
}

interface BodySchemas {
  readonly resource: Resource
  readonly caller: Caller
  readonly isPermittedFor: (permission: unknown) => boolean
  /** All schemas of the resource's bodies. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** Schemas of the bodies that the caller may send, and of their components. */
async function describeBodies(
  { resource, caller, isPermittedFor, schemas }: BodySchemas,
  allowed: Permissions['allowed'],
  bodies: { readonly create: JsonSchema; readonly update: JsonSchema },
): Promise<object> {
  const taken = Object.entries(bodies).filter(([name]) => allowed.has(name as keyof typeof bodies))
  if (taken.length === 0) return {}
  const closedRelations = new Map<Resource, ReadonlySet<string>>()
  const described = new Map<string, JsonSchema>()
  const addSchemas = async (referring: unknown, owner: Resource): Promise<void> => {
    for (const name of referencedNames(referring)) {
      const schema = schemas[name]
      if (schema === undefined || described.has(name)) continue
      const closed = closedRelations.get(owner) ?? (await findClosedRelations(owner, caller))
      closedRelations.set(owner, closed)
      const filtered = filterWritable(schema, isPermittedFor, closed)
      described.set(name, filtered)
      for (const [json, member] of Object.entries<JsonSchema>(Object(filtered.properties))) {
        const relation = owner.nestedRelations.includes(json) ? owner.relations().get(json.toLowerCase()) : undefined
        await addSchemas(member, relation?.relatedResource() ?? owner)
      }
    }
  }
  await addSchemas(
    taken.map(([, schema]) => schema),
    resource,
  )
  return { bodies: Object.fromEntries(taken), components: { schemas: Object.fromEntries(described) } }
}

/** Names of nested relations that the caller may not use. Each resource in a body has its own. */
async function findClosedRelations(resource: Resource, caller: Caller): Promise<ReadonlySet<string>> {
  if (resource.nestedRelations.length === 0) return new Set()
  const { fieldsByRelation } = await findQueryableView(resource, caller)
  return new Set(resource.nestedRelations.filter((json) => !fieldsByRelation.has(json)))
}

function referencedNames(schema: unknown): readonly string[] {
  return [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name)
}
