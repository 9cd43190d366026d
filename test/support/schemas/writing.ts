import type { Model, ModelStatic } from 'sequelize'
import type { Field, JsonValue } from '../../../types/field.js'
import type { JsonRecord } from '../../../types/reply.js'
import type { Resource } from '../../../types/resource.js'
import { list } from '../lists.js'
import { keyIn, type Walk } from './asking.js'
import { type Row, rowOf, type Tables, toWireValue } from './tables.js'

/** Creates a record, reads it, patches every field and deletes it. The table is afterwards unchanged. */
export async function walkRecord(walk: Walk): Promise<void> {
  const { t, server, tables, resource } = walk
  const { route, model, key, fields } = resource
  const writable = fields.filter(({ targets }) => targets.has('create'))

  const body = newBody(walk, 0)
  const created = await server.post(route, body)
  t.is(created.status, 201, created.text)
  for (const { json } of writable) t.deepEqual(created.body[json], body[json], json)
  const location = created.headers.get('location') ?? ''
  t.is(location, pathOf(resource, created.body))
  await expectRecord(walk, location, created.body)

  for (const [n, field] of fields.filter(({ targets }) => targets.has('update')).entries()) {
    const before = (await server.get(location)).body
    const value = patchedValue(walk, field, before, n)
    const patched = await server.patch(location, { [field.json]: value })
    t.is(patched.status, 200, patched.text)
    t.deepEqual(ownOf(resource, patched.body), { ...ownOf(resource, before), [field.json]: value })
    await expectRecord(walk, location, patched.body)
    const cleared = await server.patch(location, { [field.json]: null })
    if (field.nullable) {
      t.is(cleared.status, 200, cleared.text)
      t.deepEqual(ownOf(resource, cleared.body), { ...ownOf(resource, before), [field.json]: null })
      await expectRecord(walk, location, cleared.body)
    } else {
      t.is(cleared.status, 400)
      t.deepEqual(cleared.body.errors, { [field.json]: ['cannot be null.'] })
    }
  }
  const last = await server.get(location)
  const unchanged = await server.patch(location, {})
  t.is(unchanged.status, 200)
  t.deepEqual(unchanged.body, last.body)

  t.is((await server.delete(location)).status, 204)
  for (const gone of [await server.get(location), await server.patch(location, {}), await server.delete(location)]) {
    t.is(gone.status, 404)
  }
  t.is((await list(server, route, { count: true })).body.count, tables.of(model).length)
  if (resource.operations.has('restore')) await walkRestore(walk, location, last.body)
  await deleteRows(model, key, [created.body[key.json]])
}

async function walkRestore(walk: Walk, location: string, before: JsonRecord): Promise<void> {
  const { t, server, tables, resource } = walk
  const { route, key, model } = resource
  const all = await list(server, route, { includeDeleted: true, pageSize: 1000 })
  const shown = all.body.items.find((item: JsonRecord) => item[key.json] === before[key.json])
  t.truthy(shown)
  t.true(all.body.totalCount > tables.of(model).length, 'what was deleted before is there too')
  const restored = await server.post(`${location}/restore`, undefined)
  t.is(restored.status, 200, restored.text)
  t.deepEqual(restored.body, before)
  await expectRecord(walk, location, restored.body)
  t.is((await server.post(`${location}/restore`, undefined)).status, 404)
}

/** Checks required members, and defaults of the other members. */
export async function walkRequired(walk: Walk): Promise<void> {
  const { t, server, resource } = walk
  const { route, model, key, fields } = resource
  const writable = fields.filter(({ targets }) => targets.has('create'))
  const required = writable.filter(({ rules }) => rules.required).map(({ json }) => json)
  const body = newBody(walk, 1)
  const least = Object.fromEntries(required.map((json) => [json, body[json]]))
  for (const json of required) {
    const { [json]: _, ...without } = least
    const refused = await server.post(route, without)
    t.is(refused.status, 400)
    t.deepEqual(refused.body.errors, { [json]: ['is required.'] })
  }
  const created = await server.post(route, least)
  t.is(created.status, 201, created.text)
  for (const field of writable.filter(({ json }) => !required.includes(json))) {
    const { defaultValue = null } = model.getAttributes()[field.name] ?? {}
    const isMade = typeof defaultValue === 'object' && defaultValue !== null
    if (isMade) t.truthy(created.body[field.json])
    else t.deepEqual(created.body[field.json], toWireValue(field, defaultValue as JsonValue), field.json)
  }
  await deleteRows(model, key, [created.body[key.json]])
}

/**
 * Checks that unknown references, duplicate keys and the deletion of referenced records give 409 without any change.
 */
export async function walkConflicts(walk: Walk): Promise<void> {
  const { t, server, tables, resource } = walk
  const { route, model, fields } = resource
  const rows = tables.of(model)
  const [some] = rows
  if (some === undefined) throw new RangeError('a table without rows')
  const path = pathOf(resource, tables.record(resource, some))
  const body = newBody(walk, 2)
  for (const field of fields) {
    if (parentOf(model, field) === undefined) continue
    const nowhere = field.valueType.type === 'string' ? '?' : 2_000_000_000
    t.is((await server.post(route, { ...body, [field.json]: nowhere })).status, 409, field.json)
    t.is((await server.post(`${route}/bulk`, [body, { ...body, [field.json]: nowhere }])).status, 409, field.json)
    if (field.targets.has('update')) t.is((await server.patch(path, { [field.json]: nowhere })).status, 409, field.json)
  }
  if (fields.some(({ name, targets }) => model.primaryKeyAttributes.includes(name) && targets.has('create'))) {
    const taken = await server.post(route, { ...body, ...primaryKey(resource, some) })
    t.is(taken.status, 409, taken.text)
    t.deepEqual(
      Object.values(taken.body.errors).flat(),
      model.primaryKeyAttributes.map(() => 'is already taken.'),
    )
  }
  if (!resource.softDeletes) {
    const referenced = rows.find((row) => isReferenced(tables, resource, row))
    if (referenced !== undefined) {
      t.is((await server.delete(pathOf(resource, tables.record(resource, referenced)))).status, 409)
      t.is(
        (
          await server.post(
            `${route}/bulk-delete`,
            rows.map((row) => keyIn(row, resource)),
          )
        ).status,
        409,
      )
    }
  }
  t.deepEqual(await tables.read(model), rows)
}

/** Checks that batches are atomic. */
export async function walkBulk(walk: Walk): Promise<void> {
  const { t, server, tables, resource } = walk
  const { route, model, key, fields } = resource
  const bodies = [3, 4, 5].map((n) => newBody(walk, n))
  const wrong = fields.find(({ targets }) => targets.has('create'))
  const refused = await server.post(`${route}/bulk`, [bodies[0], { ...bodies[1], [wrong?.json ?? '']: {} }])
  t.is(refused.status, 400)
  t.deepEqual(Object.keys(refused.body.errors), [`[1].${wrong?.json}`])
  t.is((await tables.read(model)).length, tables.of(model).length)

  const created = await server.post(`${route}/bulk`, bodies)
  t.is(created.status, 201, created.text)
  const keys = created.body.map((record: JsonRecord) => record[key.json])
  for (const [n, record] of created.body.entries()) {
    for (const [json, value] of Object.entries(bodies[n] ?? {})) t.deepEqual(record[json], value, json)
    await expectRecord(walk, pathOf(resource, record), record)
  }
  const missing = key.valueType.type === 'integer' ? 2_000_000_000 : '00000000-0000-4000-8000-ffffffffffff'
  const deleted = await server.post(`${route}/bulk-delete`, [...keys, missing, keys[0]])
  t.is(deleted.status, 200)
  t.deepEqual(deleted.body, { deleted: 3 })
  await deleteRows(model, key, keys)
  t.deepEqual(await tables.read(model), tables.of(model))
}

/** Asserts that GET and the model return the record. */
async function expectRecord({ t, server, tables, resource }: Walk, path: string, record: JsonRecord): Promise<void> {
  const { model, key } = resource
  const got = await server.get(path)
  t.is(got.status, 200, path)
  t.deepEqual(got.body, record)
  const instance = await model.findOne({ where: { [key.name]: record[key.json] }, rejectOnEmpty: true })
  t.deepEqual(tables.record(resource, rowOf(model, instance)), record)
}

/** Deletes rows without Sequelize's soft delete, so that soft-deleted records are removed as well. */
async function deleteRows(
  model: ModelStatic<Model>,
  { name }: Field,
  keys: readonly (string | number)[],
): Promise<void> {
  await model.destroy({ where: { [name]: [...keys] } })
}

function pathOf({ route, key }: Resource, record: JsonRecord): string {
  return `${route}/${encodeURIComponent(String(record[key.json]))}`
}

function ownOf({ fields }: Resource, record: JsonRecord): JsonRecord {
  return Object.fromEntries(fields.flatMap(({ json }) => (json in record ? [[json, record[json] ?? null]] : [])))
}

function primaryKey({ model, fields }: Resource, row: Row): JsonRecord {
  const own = fields.filter(({ name }) => model.primaryKeyAttributes.includes(name))
  return Object.fromEntries(own.map(({ name, json }) => [json, row[name] ?? null]))
}

/** Whether other rows refer to a row. */
function isReferenced(tables: Tables, { model }: Resource, row: Row): boolean {
  return Object.values(model.associations).some(
    (association) => association.associationType === 'HasMany' && tables.behind(association, row).length > 0,
  )
}

/** Association whose foreign key is the field. */
function parentOf(model: ModelStatic<Model>, { name }: Field) {
  return Object.values(model.associations).find(
    ({ associationType, foreignKey }) => associationType === 'BelongsTo' && foreignKey === name,
  )
}

/** Builds the n-th body with unused values and valid foreign keys. */
function newBody(walk: Walk, n: number): JsonRecord {
  const writable = walk.resource.fields.filter(({ targets }) => targets.has('create'))
  const bodies = Array.from({ length: 400 }, (_, at) =>
    Object.fromEntries(writable.map((field, place) => [field.json, valueFor(walk, field, at + place * (at >> 3))])),
  )
  const body = bodies.filter((each) => isFree(walk, each))[n]
  if (body === undefined) throw new RangeError('every key is taken')
  return body
}

/** A value for a field that differs from the record's value. */
function patchedValue(walk: Walk, field: Field, record: JsonRecord, n: number): JsonValue {
  const values = Array.from({ length: 50 }, (_, at) => valueFor(walk, field, 401 + n + at))
  const value = values.find((each) => each !== record[field.json] && isFree(walk, { ...record, [field.json]: each }))
  if (value === undefined) throw new RangeError(`every value of ${field.json} is taken`)
  return value
}

/** Whether no row has the primary key of a record. */
function isFree({ tables, resource }: Walk, record: JsonRecord): boolean {
  const { model, fields } = resource
  const own = fields.filter(({ name }) => model.primaryKeyAttributes.includes(name))
  return !tables.of(model).some((row) => own.every(({ name, json }) => row[name] === record[json]))
}

function valueFor({ tables, resource }: Walk, field: Field, n: number): JsonValue {
  const parent = parentOf(resource.model, field)
  if (parent === undefined) return sample(field, n)
  const keys = tables.of(parent.target).map((row) => row[parent.target.primaryKeyAttribute] ?? null)
  return keys[n % keys.length] ?? null
}

/** A value of the field's type. Different `n` give different values, if the type has enough values. */
function sample({ valueType, rules }: Field, n: number): JsonValue {
  switch (valueType.type) {
    case 'string': {
      const text = valueType.maxLength !== undefined && valueType.maxLength < 12 ? `Z${n}` : `Ż${n} / "new", 100%'s`
      return text.slice(0, Math.min(valueType.maxLength ?? 100, 15))
    }
    case 'integer':
      return (rules.min ?? 0) + 1000 + n
    case 'decimal':
      return valueType.jsonType === 'number' ? n + 0.25 : `${n}.${'25'.padEnd(valueType.scale ?? 2, '0')}`
    case 'float':
      return n % 2 === 0 ? 0.125 : 0.5
    case 'boolean':
      return n % 2 === 0
    case 'datetime':
      return new Date(Date.UTC(2010, 4, 17, 1, 2, n)).toISOString()
    case 'blob':
      return Buffer.from([0, n & 0xff, 0xff]).toString('base64')
    case 'uuid':
      return `f0000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    default:
      throw new RangeError(`no column here is of the type ${valueType.type}`)
  }
}
