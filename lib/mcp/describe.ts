import type { JsonSchema, XCrudField } from '../../types/openApi.js'
import type { Caller } from '../../types/plan.js'
import type { Reach, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { holds } from '../behaviour/mask.js'
import { resourcesOf, viewOver } from '../plan/index.js'
import type { Probed } from './probe.js'
import type { Served } from './served.js'

/** Describes a resource to a caller. It has only fields and relations that the caller may use in queries. */
export async function describeFor(
  { resource, described }: Served,
  { caller, allowed, actions }: Probed,
  nameOf: (resource: Resource) => string | null,
): Promise<object> {
  const { crud, create, update, schemas } = described()
  const isOpen = (permission: unknown): boolean => typeof permission !== 'string' || holds(caller.identity, permission)
  const { view, crossed } = await seenBy(resource, caller)
  const fieldsOf = (told: readonly XCrudField[], fields: Reach['fields'], reach: Reach | null): readonly XCrudField[] =>
    told
      .filter(({ name }) => {
        // A member of a JSON column is readable if the column is.
        const field = fields.get(name.toLowerCase()) ?? fields.get(name.split('.')[0]?.toLowerCase() ?? '')
        return field !== undefined && view.readable(field, reach)
      })
      .map(({ permission: _, writePermission: __, ...field }) => field)
  const resourceIn = ({ resources: [target] }: Reach): string | null => (target === undefined ? null : nameOf(target))
  const relations = crud.relations.flatMap(({ name, many, fields, link }) => {
    const { reach, row } = crossed.get(name) ?? {}
    if (reach === undefined) return []
    const told = { name, many, resource: resourceIn(reach), fields: fieldsOf(fields, reach.fields, reach) }
    if (link === undefined || row === undefined || row === null) return [told]
    const own = { name: link.name, resource: resourceIn(row), fields: fieldsOf(link.fields, row.fields, row) }
    return [{ ...told, link: own }]
  })
  const closed = new Set(resource.holds.filter((json) => !crossed.has(json)))
  const open = Object.entries(schemas).map(([name, schema]) => [name, openIn(schema, isOpen, closed)] as const)
  const { key, versions, quantifiers, singleton } = crud
  const fields = fieldsOf(crud.fields, resource.byName, null)
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
    ...bodiesOf(allowed, { create, update }, new Map(open)),
  }
}

/** Fields of a related resource, and fields of the join model's row. `row` is null if there is no join model. */
interface Crossed {
  readonly reach: Reach
  readonly row: Reach | null
}

/** The caller's view of the fields, and the relations that the caller's paths may use, by name. */
async function seenBy(
  resource: Resource,
  caller: Caller,
): Promise<{ readonly view: View; readonly crossed: ReadonlyMap<string, Crossed> }> {
  const all = [...resource.relations().values()].flatMap((relation) => {
    const reach = relation.reach()
    return reach === null ? [] : [{ relation, reach, from: null }]
  })
  const view = await viewOver(resource, new Set(all.flatMap(resourcesOf)), caller)
  const open = all.filter((crossing) => view.cross(crossing) !== null)
  const crossed = open.map(({ relation, reach }) => {
    return [relation.json, { reach, row: relation.link?.row()?.reach() ?? null }] as const
  })
  return { view, crossed: new Map(crossed) }
}

/** A body's schema, reduced to members that the caller may write. */
function openIn(schema: JsonSchema, isOpen: (permission: unknown) => boolean, closed: ReadonlySet<string>): JsonSchema {
  const { properties, required } = schema
  const all = Object.entries<JsonSchema>(Object(properties))
  const open = all.filter(([name, each]) => isOpen(each['x-permission']) && each.readOnly !== true && !closed.has(name))
  const names = new Set(open.map(([name]) => name))
  const left = Array.isArray(required) ? required.filter((name) => names.has(name)) : []
  const { required: _, ...others } = schema
  const written = open.map(([name, { 'x-permission': __, ...each }]) => [name, each])
  return { ...others, ...(left.length === 0 ? {} : { required: left }), properties: Object.fromEntries(written) }
}

/** Schemas of the bodies that the caller may send, and of the components that they reference. */
function bodiesOf(
  allowed: Probed['allowed'],
  bodies: { readonly create: JsonSchema; readonly update: JsonSchema },
  schemas: ReadonlyMap<string, JsonSchema>,
): object {
  const taken = Object.entries(bodies).filter(([name]) => allowed.has(name as keyof typeof bodies))
  const wanted = new Map<string, JsonSchema>()
  const want = (schema: unknown): void => {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const found = schemas.get(name)
      if (found === undefined || wanted.has(name)) continue
      wanted.set(name, found)
      want(found)
    }
  }
  want(taken.map(([, schema]) => schema))
  if (taken.length === 0) return {}
  return { bodies: Object.fromEntries(taken), components: { schemas: Object.fromEntries(wanted) } }
}
