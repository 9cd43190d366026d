import type { Schema } from 'joi'
import type { ClientTypesOptions, JsonSchema } from '../../types/openApi.js'
import { type Members, objectOf } from '../codec/schema.js'
import { atOnce, type Steps } from '../common/turns.js'
import { Components, invalid } from './components.js'
import { joiSchema } from './joi.js'
import { projectionOf, relationsOf } from './pages.js'
import { createOf, IGNORED, itemOf, recordOf, updateOf, without } from './shapes.js'
import { type Subject, subjectsOf } from './subjects.js'
import { keyOf } from './values.js'

const HEAD =
  '// Written by clientTypes of sequelize-crud-router from the resources that answer: change those, not this file.\n\n'

/**
 * Text of a TypeScript declaration file for the client: one interface per resource and one per schema. Names are the same as in OpenAPI
 * documents. Usage: `resource<Players>('/api/players')`.
 *
 * @throws CrudConfigError for values that are not resources, and for two types with one name
 */
export function clientTypes(options: ClientTypesOptions): string {
  return atOnce(writeTypes(options))
}

/** Writes the text of `clientTypes`, one resource per step. */
export function* writeTypes({ resources }: ClientTypesOptions): Steps<string> {
  const components = new Components()
  const shapes = new Map<Subject, string>()
  for (const subject of subjectsOf(resources, components)) {
    shapes.set(subject, shapesOf(subject))
    yield
  }
  const declarations = new Map<string, string>()
  for (const [name, schema] of Object.entries(components.content.schemas ?? {})) {
    declare(declarations, identifier(name), typeOf(schema))
  }
  for (const [{ names }, type] of shapes) {
    const name = identifier(names.many)
    // A word without a distinct plural names the record type.
    declare(declarations, declarations.has(name) ? `${name}Shapes` : name, type)
  }
  return HEAD + [...declarations.values()].join('\n')
}

/** @throws CrudConfigError if another declaration has the name */
function declare(declarations: Map<string, string>, name: string, type: string): void {
  if (declarations.has(name)) {
    throw invalid(
      `Two types would be called "${name}": give one of the resources other names, by its option names, or that of its entry: { resource, names: { response: 'Other${name}' } }.`,
    )
  }
  const isInterface = type.startsWith('{') && type.endsWith('}')
  declarations.set(name, `export ${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type}`}\n`)
}

/** Types of a resource for its client. */
function shapesOf(subject: Subject): string {
  const { resource } = subject
  const row = typeOf(recordOf(subject))
  const isFormatted = resource.format !== null
  const versions = resource.fields.filter(({ name }) => name === resource.version)
  const keys = resource.keys.map(({ json }) => JSON.stringify(json))
  const members: readonly (readonly [name: string, type: string])[] = [
    ['row', isFormatted ? OPEN : row],
    ['item', isFormatted ? OPEN : typeOf(itemOf(subject))],
    ['create', typeOf(createOf(subject))],
    ['patch', typeOf(updateOf(subject))],
    ['key', keys.length === 1 ? keys.join() : `readonly [${keys.join(', ')}]`],
    ['operations', [...resource.operations].map((each) => JSON.stringify(each)).join(' | ') || 'never'],
    ['embedded', typeOf(embeddedIn(subject))],
    ...(resource.versions ? [['versions', 'true'] as const] : []),
    ...versions.map(({ json }) => ['version', JSON.stringify(json)] as const),
    ...(resource.actions.size === 0 ? [] : [['actions', actionsIn(subject)] as const]),
    ['events', eventsOf(pushedOf(subject, row), typeOf(keyOf(subject)), resource.versions)],
  ]
  return blockOf(members.map(([name, type]) => `readonly ${name}: ${type}`))
}

/** Type of a response from the host's `format`. */
const OPEN = '{ readonly [name: string]: unknown }'

function blockOf(lines: readonly string[]): string {
  return `{\n${lines.map((line) => line.replace(/^(?=.)/gm, '  ')).join('\n')}\n}`
}

/** Type of a record in a push event, without fields that are computed for each caller. */
function pushedOf({ resource: { computed } }: Subject, row: string): string {
  const own = computed.filter((field) => field.computed.isPerCaller && field.targets.has('response'))
  return own.length === 0 ? row : `Omit<${row}, ${own.map(({ json }) => JSON.stringify(json)).join(' | ')}>`
}

/** Actions by name, with their input and output types. */
function actionsIn(subject: Subject): string {
  const isFormatted = subject.resource.format !== null
  const answers = {
    record: () => (isFormatted ? 'unknown' : typeOf(recordOf(subject))),
    list: () => (isFormatted ? 'unknown' : blockOf([`readonly items: readonly ${typeOf(itemOf(subject))}[]`])),
    none: () => 'undefined',
    value: (value: Schema | null) => (value === null ? 'unknown' : typeOf(joiSchema(value))),
  }
  const lines = [...subject.resource.actions.values()].map(({ name, on, method, input, output, value }) => {
    const members = [
      `readonly on: ${JSON.stringify(on)}`,
      `readonly method: ${JSON.stringify(method)}`,
      `readonly input: ${input === null ? 'undefined' : typeOf(joiSchema(input))}`,
      `readonly output: ${answers[output](value)}`,
    ]
    return `readonly ${name}: ${blockOf(members)}`
  })
  return blockOf(lines)
}

function eventsOf(row: string, key: string, hasVersions: boolean): string {
  const events = [
    ['OnCreated', `record: ${row}`],
    ['OnUpdated', `record: ${row}`],
    ['OnDeleted', `key: ${key}${hasVersions ? ', version?: number | string' : ''}`],
    ['OnMissed', ''],
  ]
  return blockOf(events.map(([name, given]) => `readonly ${name}: (${given}) => void`))
}

/** Members that `select` may add to a record over relations. */
function embeddedIn(subject: Subject): JsonSchema {
  projectionOf(subject)
  const { fields, computed } = subject.resource
  const own = Object.fromEntries([...fields, ...computed].map(({ json }) => [json, {}]))
  return objectOf(without(relationsOf(subject), own), 'all')
}

// ---------------------------------------------------------------- TypeScript

/** The type of a schema in TypeScript. References are names of declarations. */
function typeOf(schema: JsonSchema): string {
  const { $ref, anyOf, const: value, enum: values, type } = schema
  if (typeof $ref === 'string') return identifier($ref.split('/').at(-1) ?? '')
  if (Array.isArray(anyOf)) return union(anyOf.map((each) => typeOf(each)))
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(values)) return union(values.map((each) => JSON.stringify(each)))
  const types = [type].flat().filter((each) => typeof each === 'string')
  return types.length === 0 ? 'unknown' : union(types.map((each) => TYPES[each]?.(schema) ?? 'unknown'))
}

const TYPES: Readonly<Record<string, (schema: JsonSchema) => string>> = {
  string: () => 'string',
  integer: () => 'number',
  number: () => 'number',
  boolean: () => 'boolean',
  null: () => 'null',
  array: ({ items }) => {
    const type = typeOf(Object(items))
    return `readonly ${/[|\n]/.test(type) ? `(${type})` : type}[]`
  },
  object: ({ properties, required, additionalProperties }) => {
    if (properties === undefined) return '{ readonly [name: string]: unknown }'
    const members = membersOf(Object(properties), Array.isArray(required) ? required : [])
    if (additionalProperties === true) members.push('[name: string]: unknown')
    return members.length === 0 ? 'object' : blockOf(members)
  },
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)]
  return all.includes('unknown') ? 'unknown' : all.join(' | ')
}

function membersOf(properties: Members, required: readonly unknown[]): string[] {
  const said = Object.entries(properties).filter(([, schema]) => schema !== IGNORED)
  return said.flatMap(([name, schema]) => {
    const permission = schema['x-permission']
    const told = [
      ...(typeof permission === 'string' ? [`Needs ${commented(permission)}.`] : []),
      ...(schema.deprecated === true ? [`@deprecated ${uncommented(String(schema.description ?? ''))}`] : []),
    ].map((text) => `/** ${text} */`)
    const member = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return [...told, `${member}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`]
  })
}

function commented(text: string): string {
  return uncommented(JSON.stringify(text))
}

/** Text that cannot end a comment. */
function uncommented(text: string): string {
  return text.replaceAll('*/', '*\\/')
}

/** Name of a declaration. Document names may contain dots and dashes, declarations may not. */
export function identifier(name: string): string {
  const joined = name.replace(/[.-]+(.?)/g, (_, letter: string) => letter.toUpperCase())
  return /^\d/.test(joined) ? `_${joined}` : joined
}
