import type { JsonSchema, OpenApiDocument } from '../../types/openApi.js'

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T08:30:00.000Z',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** What a schema of a document could be about, for people to begin with. */
export function sampleOf(document: OpenApiDocument, schema: JsonSchema): unknown {
  const { $ref, anyOf, type, enum: values, examples } = schema
  if (typeof $ref === 'string') return sampleOf(document, referred(document, $ref))
  if (Array.isArray(examples)) return examples[0]
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return sampleOf(document, anyOf[0])
  const [first] = [type].flat()
  if (first === 'string') return text(schema)
  if (first === 'integer' || first === 'number') return number(schema)
  if (first === 'boolean') return true
  if (first === 'array') return [sampleOf(document, Object(schema.items))]
  if (first === 'object') return object(document, schema)
  return {}
}

/** The component that a reference is about. */
export function referred(document: OpenApiDocument, $ref: string): JsonSchema {
  const names = $ref.slice(2).split('/')
  return names.reduce((at, name) => Object(Reflect.get(at, name)), document as object) as JsonSchema
}

function text({ format, minLength = 0, maxLength = 1000 }: JsonSchema): string {
  const known = FORMATS[String(format)]
  return known ?? 'text'.padEnd(Number(minLength), 't').slice(0, Number(maxLength))
}

function number({ minimum = 1, maximum = 1 }: JsonSchema): number {
  return Math.min(Math.max(1, Math.ceil(Number(minimum))), Math.max(Number(maximum), Number(minimum)))
}

/** With what it must have, or else with the first of what it may have. */
function object(document: OpenApiDocument, { properties, required }: JsonSchema): object {
  const all = Object.entries(Object(properties)).filter(([, each]) => Object(each).readOnly !== true)
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  const shown = needed.length === 0 ? all.slice(0, 1) : all.filter(([name]) => needed.includes(name))
  return Object.fromEntries(shown.map(([name, each]) => [name, sampleOf(document, Object(each))]))
}
