import type { JsonSchema } from '../../types/openApi.js'
import { CrudConfigError } from '../common/errors.js'
import { IGNORED } from './shapes.js'

/** What a schema's type is in TypeScript. References are the names of declarations. */
export function typeOf(schema: JsonSchema): string {
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
  array: ({ items }) => `readonly ${grouped(typeOf(Object(items)))}[]`,
  object: ({ properties, required, additionalProperties }) => {
    if (properties === undefined) return '{ readonly [name: string]: unknown }'
    const members = membersOf(Object(properties), new Set(Array.isArray(required) ? required : []))
    const open = additionalProperties === true ? ['[name: string]: unknown'] : []
    if (members.length + open.length === 0) return 'object'
    return `{\n${[...members, ...open].map((line) => indented(line)).join('\n')}\n}`
  },
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)]
  return all.includes('unknown') ? 'unknown' : all.join(' | ')
}

function grouped(type: string): string {
  return /[|\n]/.test(type) ? `(${type})` : type
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

function membersOf(
  properties: Readonly<Record<string, JsonSchema>>,
  required: ReadonlySet<unknown>,
): readonly string[] {
  const said = Object.entries(properties).filter(([, schema]) => schema !== IGNORED)
  return said.flatMap(([name, schema]) => {
    const permission = schema['x-permission']
    const told = typeof permission === 'string' ? [`/** Needs ${commented(permission)}. */`] : []
    return [...told, `${nameOf(name)}${required.has(name) ? '' : '?'}: ${typeOf(schema)}`]
  })
}

/** Text that ends no comment. */
function commented(text: string): string {
  return JSON.stringify(text).replaceAll('*/', '*\\/')
}

function nameOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

/** A name of documents, which may have dots and dashes, as one of declarations. */
export function identifier(name: string): string {
  const joined = name.replace(/[.-]+(.?)/g, (_, letter: string) => letter.toUpperCase())
  return /^\d/.test(joined) ? `_${joined}` : joined
}

/** Declarations by name, in the order in which they came. */
export class Declarations {
  readonly #all = new Map<string, string>()

  /** @throws CrudConfigError where another one has the name */
  add(given: string, type: string): void {
    const name = identifier(given)
    if (this.#all.has(name)) {
      throw new CrudConfigError(
        'INVALID_OPTION',
        `Two types would be called "${name}": give one of the resources other names, by its option names, or that of its entry: { resource, names: { response: 'Other${name}' } }.`,
      )
    }
    this.#all.set(
      name,
      type.startsWith('{') && type.endsWith('}') ? `interface ${name} ${type}` : `type ${name} = ${type}`,
    )
  }

  has(name: string): boolean {
    return this.#all.has(identifier(name))
  }

  get text(): string {
    return [...this.#all.values()].map((each) => `export ${each}\n`).join('\n')
  }
}
