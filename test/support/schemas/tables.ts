import type { Association, Model, ModelStatic } from 'sequelize'
import type { Field, JsonValue } from '../../../types/field.js'
import type { JsonRecord } from '../../../types/reply.js'
import type { ModelAccess, Relation, Resource } from '../../../types/resource.js'

type Any = ModelStatic<Model>

/** A row as read through the model, with JSON values by attribute. */
export type Row = Readonly<Record<string, JsonValue>>

/** Attributes of an association that connect two rows. */
interface Keys {
  readonly foreignKey: string
  readonly sourceKey?: string
  readonly targetKey?: string
  readonly otherKey?: string
  readonly through?: { readonly model?: Any }
}

/** Expected data: rows of all tables, read through the models. Relations are found by comparing keys in memory. */
export class Tables {
  readonly #resources: ReadonlyMap<Any, Resource>
  readonly #marks: ReadonlyMap<Any, string>
  readonly #rows = new Map<Any, readonly Row[]>()
  readonly #indexes = new Map<string, ReadonlyMap<JsonValue, readonly Row[]>>()

  /** @param marks attributes that mark a row as deleted, by model */
  constructor(resources: readonly Resource[], marks: ReadonlyMap<Any, string>) {
    this.#resources = new Map(resources.map((resource) => [resource.model, resource]))
    this.#marks = marks
  }

  async load(models: readonly Any[]): Promise<void> {
    for (const model of models) this.#rows.set(model, await this.read(model))
  }

  /** Reads the current rows of a table. */
  async read(model: Any): Promise<readonly Row[]> {
    const instances = await model.findAll({ order: [...model.primaryKeyAttributes] })
    const rows = instances.map((instance) => rowOf(model, instance))
    const mark = this.#marks.get(model)
    return mark === undefined ? rows : rows.filter((row) => row[mark] === false)
  }

  of(model: Any): readonly Row[] {
    const rows = this.#rows.get(model)
    if (rows === undefined) throw new RangeError(`the rows of ${model.name} were not read`)
    return rows
  }

  /** Rows behind an association. A to-one association has at most one row. */
  behind(association: Association, row: Row): readonly Row[] {
    const { source, target, associationType } = association
    const { foreignKey, through, otherKey = '', ...keys } = association as object as Keys
    const { sourceKey = source.primaryKeyAttribute, targetKey = target.primaryKeyAttribute } = keys
    if (associationType === 'BelongsTo') return this.#where(target, targetKey, row[foreignKey])
    if (through?.model === undefined) return this.#where(target, foreignKey, row[sourceKey])
    const links = this.#where(through.model, foreignKey, row[sourceKey])
    return links.flatMap((link) => this.#where(target, targetKey, link[otherKey]))
  }

  /** Rows whose attribute has a value. Null equals no value. */
  #where(model: Any, attribute: string, value: JsonValue | undefined): readonly Row[] {
    if (value === undefined || value === null) return []
    const name = `${model.name}.${attribute}`
    const index = this.#indexes.get(name) ?? indexBy(this.of(model), attribute)
    this.#indexes.set(name, index)
    return index.get(value) ?? []
  }

  /** Expected record of a row, with its own fields and its flattened fields. */
  record(resource: Resource, row: Row): JsonRecord {
    return { ...this.own(resource.fields, row), ...this.#flattened(resource, row, '') }
  }

  own(fields: readonly Field[], row: Row): JsonRecord {
    const shown = fields.filter(({ targets }) => targets.has('response'))
    return Object.fromEntries(shown.map((field) => [field.json, toWireValue(field, row[field.name] ?? null)]))
  }

  #flattened({ flatten, relations }: Resource, row: Row | undefined, prefix: string): JsonRecord {
    const record: JsonRecord = {}
    for (const relation of relations().values()) {
      const target = this.#resources.get(relation.association.target)
      if (!flatten.includes(relation.name) || target === undefined) continue
      const [behind] = row === undefined ? [] : this.behind(relation.association, row)
      const name = prefix === '' ? relation.json : prefix + capitalised(relation.json)
      for (const [json, value] of Object.entries(this.own(target.fields, behind ?? {}))) {
        if (json !== target.key.json) record[name + capitalised(json)] = value
      }
      Object.assign(record, this.#flattened(target, behind, name))
    }
    return record
  }
}

export interface RelationPath {
  readonly relations: readonly Relation[]
  readonly access: ModelAccess
}

/** All relation paths of a resource. Shorter paths come first. */
export function pathsFrom({ relations, limits }: Resource): readonly RelationPath[] {
  const paths: RelationPath[] = []
  let last: readonly { readonly relations: readonly Relation[]; readonly next: ReadonlyMap<string, Relation> }[] = [
    { relations: [], next: relations() },
  ]
  for (let depth = 1; depth <= limits.pathDepth; depth++) {
    last = last.flatMap((path) =>
      [...path.next.values()].flatMap((relation) => {
        const access = relation.resolveTarget()
        if (access === null) return []
        const longer = [...path.relations, relation]
        paths.push({ relations: longer, access })
        return [{ relations: longer, next: access.relations }]
      }),
    )
  }
  return paths
}

function indexBy(rows: readonly Row[], attribute: string): ReadonlyMap<JsonValue, readonly Row[]> {
  const index = new Map<JsonValue, Row[]>()
  for (const row of rows) {
    const value = row[attribute] ?? null
    index.set(value, [...(index.get(value) ?? []), row])
  }
  return index
}

export function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

export function rowOf(model: Any, instance: Model): Row {
  return Object.fromEntries(
    Object.entries(model.getAttributes()).map(([name, { type }]) => [name, jsonOf(String(type), instance.get(name))]),
  )
}

/** Converts a value to JSON. Drivers read some values as different types. */
function jsonOf(type: string, value: unknown): JsonValue {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (/^(TINYINT\(1\)|BOOLEAN)/.test(type)) return Boolean(value)
  if (/^DECIMAL/.test(type)) return Number(value)
  if (/^CHAR\(/.test(type)) return String(value).trimEnd()
  return typeof value === 'number' ? value : String(value)
}

/** Converts a value to its form in responses. Decimals that are text have all decimal places. */
export function toWireValue({ valueType: { type, jsonType: form, scale } }: Field, value: JsonValue): JsonValue {
  return type === 'decimal' && form === 'string' && typeof value === 'number' ? value.toFixed(scale) : value
}
