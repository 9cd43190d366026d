import type { Schema } from 'joi'
import type { ClientTypesOptions, JsonSchema } from '../../types/openApi.js'
import { objectSchema, type SchemaMembers } from '../codec/schema.js'
import { runAtOnce, type Steps } from '../common/eventLoop.js'
import { Components, invalidOption } from './components.js'
import { convertJoi } from './joi.js'
import { buildProjection, buildRelationMembers } from './pages.js'
import {
  buildCreateSchema,
  buildItemSchema,
  buildRecordSchema,
  buildUpdateSchema,
  IGNORED_MEMBER,
  omitProperties,
} from './shapes.js'
import { createSubjects, type Subject } from './subjects.js'
import { buildKeySchema } from './values.js'

const FILE_HEAD =
  '// Written by clientTypes of sequelize-crud-router from the resources that answer: change those, not this file.\n\n'

/**
 * Text of a TypeScript declaration file for the client: one interface per resource and one per schema. Names are equal
 * to those in OpenAPI documents. Usage: `resource<Players>('/api/players')`.
 *
 * @throws CrudConfigError for values that are not resources, and for two types with one name
 */
export function clientTypes(options: ClientTypesOptions): string {
  return runAtOnce(writeTypes(options))
}

/** Writes the text of `clientTypes`, one resource per step. */
export function* writeTypes({ resources }: ClientTypesOptions): Steps<string> {
  const components = new Components()
  const shapes = new Map<Subject, string>()
  for (const subject of createSubjects(resources, components)) {
    shapes.set(subject, writeShapes(subject))
    yield
  }
  const declarations = new Map<string, string>()
  for (const [name, schema] of Object.entries(components.content.schemas ?? {})) {
    addDeclaration(declarations, toIdentifier(name), toTypeScript(schema))
  }
  for (const [{ names }, type] of shapes) {
    const name = toIdentifier(names.many)
    // A word without a distinct plural already names the record type.
    addDeclaration(declarations, declarations.has(name) ? `${name}Shapes` : name, type)
  }
  return FILE_HEAD + [...declarations.values()].join('\n')
}

/** Adds a declaration. @throws CrudConfigError if another declaration has the name */
function addDeclaration(declarations: Map<string, string>, name: string, type: string): void {
  if (declarations.has(name)) {
    throw invalidOption(
      `Two types would be called "${name}": give one of the resources other names, by its option names, or that of its entry: { resource, names: { response: 'Other${name}' } }.`,
    )
  }
  const isInterface = type.startsWith('{') && type.endsWith('}')
  declarations.set(name, `export ${isInterface ? `interface ${name} ${type}` : `type ${name} = ${type}`}\n`)
}

/** Types of a resource for its client. */
function writeShapes(subject: Subject): string {
  const { resource } = subject
  const row = toTypeScript(buildRecordSchema(subject))
  const isFormatted = resource.format !== null
  const versions = resource.fields.filter(({ name }) => name === resource.version)
  const keys = resource.keys.map(({ json }) => JSON.stringify(json))
  const members: readonly (readonly [name: string, type: string])[] = [
    ['row', isFormatted ? OPEN_TYPE : row],
    ['item', isFormatted ? OPEN_TYPE : toTypeScript(buildItemSchema(subject))],
    ['create', toTypeScript(buildCreateSchema(subject))],
    ['patch', toTypeScript(buildUpdateSchema(subject))],
    ['key', keys.length === 1 ? keys.join() : `readonly [${keys.join(', ')}]`],
    ['operations', [...resource.operations].map((each) => JSON.stringify(each)).join(' | ') || 'never'],
    ['embedded', toTypeScript(buildEmbeddedSchema(subject))],
    ...(resource.versions ? [['versions', 'true'] as const] : []),
    ...versions.map(({ json }) => ['version', JSON.stringify(json)] as const),
    ...(resource.actions.size === 0 ? [] : [['actions', writeActions(subject)] as const]),
    ['events', writeEvents(writePushedType(subject, row), toTypeScript(buildKeySchema(subject)), resource.versions)],
  ]
  return writeBlock(members.map(([name, type]) => `readonly ${name}: ${type}`))
}

/** Type of a response from the host's `format`. */
const OPEN_TYPE = '{ readonly [name: string]: unknown }'

function writeBlock(lines: readonly string[]): string {
  return `{\n${lines.map((line) => line.replace(/^(?=.)/gm, '  ')).join('\n')}\n}`
}

/** Writes the type of a record in a push event, without fields that are computed for each caller. */
function writePushedType({ resource: { computed } }: Subject, row: string): string {
  const own = computed.filter((field) => field.computed.isPerCaller && field.targets.has('response'))
  return own.length === 0 ? row : `Omit<${row}, ${own.map(({ json }) => JSON.stringify(json)).join(' | ')}>`
}

/** Actions by name, with their input and output types. */
function writeActions(subject: Subject): string {
  const isFormatted = subject.resource.format !== null
  const answers = {
    record: () => (isFormatted ? 'unknown' : toTypeScript(buildRecordSchema(subject))),
    list: () =>
      isFormatted ? 'unknown' : writeBlock([`readonly items: readonly ${toTypeScript(buildItemSchema(subject))}[]`]),
    none: () => 'undefined',
    value: (value: Schema | null) => (value === null ? 'unknown' : toTypeScript(convertJoi(value))),
  }
  const lines = [...subject.resource.actions.values()].map(({ name, on, method, input, output, outputSchema }) => {
    const members = [
      `readonly on: ${JSON.stringify(on)}`,
      `readonly method: ${JSON.stringify(method)}`,
      `readonly input: ${input === null ? 'undefined' : toTypeScript(convertJoi(input))}`,
      `readonly output: ${answers[output](outputSchema)}`,
    ]
    return `readonly ${name}: ${writeBlock(members)}`
  })
  return writeBlock(lines)
}

function writeEvents(row: string, key: string, hasVersions: boolean): string {
  const events = [
    ['OnCreated', `record: ${row}`],
    ['OnUpdated', `record: ${row}`],
    ['OnDeleted', `key: ${key}${hasVersions ? ', version?: number | string' : ''}`],
    ['OnMissed', ''],
  ]
  return writeBlock(events.map(([name, given]) => `readonly ${name}: (${given}) => void`))
}

/** Schema of the members that `select` may add to a record over relations. */
function buildEmbeddedSchema(subject: Subject): JsonSchema {
  buildProjection(subject)
  const { fields, computed } = subject.resource
  const own = Object.fromEntries([...fields, ...computed].map(({ json }) => [json, {}]))
  return objectSchema(omitProperties(buildRelationMembers(subject), own), 'all')
}

// ---------------------------------------------------------------- TypeScript

/** Writes a schema as a TypeScript type. References become names of declarations. */
function toTypeScript(schema: JsonSchema): string {
  const { $ref, anyOf, const: value, enum: values, type } = schema
  if (typeof $ref === 'string') return toIdentifier($ref.split('/').at(-1) ?? '')
  if (Array.isArray(anyOf)) return joinUnion(anyOf.map((each) => toTypeScript(each)))
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(values)) return joinUnion(values.map((each) => JSON.stringify(each)))
  const types = [type].flat().filter((each) => typeof each === 'string')
  return types.length === 0 ? 'unknown' : joinUnion(types.map((each) => TYPE_WRITERS[each]?.(schema) ?? 'unknown'))
}

const TYPE_WRITERS: Readonly<Record<string, (schema: JsonSchema) => string>> = {
  string: () => 'string',
  integer: () => 'number',
  number: () => 'number',
  boolean: () => 'boolean',
  null: () => 'null',
  array: ({ items }) => {
    const type = toTypeScript(Object(items))
    return `readonly ${/[|\n]/.test(type) ? `(${type})` : type}[]`
  },
  object: ({ properties, required, additionalProperties }) => {
    if (properties === undefined) return '{ readonly [name: string]: unknown }'
    const members = writeMembers(Object(properties), Array.isArray(required) ? required : [])
    if (additionalProperties === true) members.push('[name: string]: unknown')
    return members.length === 0 ? 'object' : writeBlock(members)
  },
}

function joinUnion(types: readonly string[]): string {
  const all = [...new Set(types)]
  return all.includes('unknown') ? 'unknown' : all.join(' | ')
}

function writeMembers(properties: SchemaMembers, required: readonly unknown[]): string[] {
  const shown = Object.entries(properties).filter(([, schema]) => schema !== IGNORED_MEMBER)
  return shown.flatMap(([name, schema]) => {
    const permission = schema['x-permission']
    const comments = [
      ...(typeof permission === 'string' ? [`Needs ${writeComment(permission)}.`] : []),
      ...(schema.deprecated === true ? [`@deprecated ${escapeComment(String(schema.description ?? ''))}`] : []),
    ].map((text) => `/** ${text} */`)
    const member = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return [...comments, `${member}${required.includes(name) ? '' : '?'}: ${toTypeScript(schema)}`]
  })
}

function writeComment(text: string): string {
  return escapeComment(JSON.stringify(text))
}

/** Escapes text that would end a comment. */
function escapeComment(text: string): string {
  return text.replaceAll('*/', '*\\/')
}

/** Name of a declaration. Document names may contain dots and dashes, declarations may not. */
export function toIdentifier(name: string): string {
  const joined = name.replace(/[.-]+(.?)/g, (_, letter: string) => letter.toUpperCase())
  return /^\d/.test(joined) ? `_${joined}` : joined
}
