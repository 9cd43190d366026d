// Generates request bodies from the schemas of a document, and mutates them.

import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema, OpenApiDocument } from '../../lib/index.js'
import { chance, oneOf, type Random, several, weighted } from '../fuzz/choose.js'
import { below } from './differential/random.js'

const TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    'a',
    'ab',
    'abc',
    'abcd',
    'x',
    'xyz',
    'X',
    'new',
    'done',
    'good',
    'bad',
    'true',
    'null',
    '  ab  ',
    'a\nb',
    'ä',
    '😀',
    '😀😀',
  ],
  ...[
    '0',
    '1',
    '-1',
    '007',
    '+5',
    '12.5',
    '12.345',
    '.5',
    '5.',
    '1e5',
    '-0.00',
    '999999.99',
    '1000000',
    '9007199254740992',
  ],
  ...['-9007199254740992', '9223372036854775807', '9223372036854775808', '-9223372036854775808', '9007199254740991'],
  ...[
    '12345678901234567890.1234',
    '123456789012345678901',
    '1'.repeat(30),
    'a'.repeat(20),
    'a'.repeat(21),
    'b'.repeat(255),
    'b'.repeat(256),
  ],
  ...['2024-02-29', '2023-02-29', '2024-04-31', '0001-01-01', '0000-01-01', '9999-12-31', '2024-1-1', '20240101'],
  ...['2024-01-31T08:30:00Z', '2024-01-31 08:30', '2024-01-31T08:30:00.123456789+02:00', '2024-01-31T08:30:00+02'],
  ...[
    '2024-01-31T24:00:00Z',
    '2024-01-31T08:30:60Z',
    '2024-01-31t08:30:00z',
    '2024-01-31T08',
    '2024-01-31T08:30:00+0200',
  ],
  ...['08:30', '08:30:00', '24:00', '8:30', '08:30:00.5', '23:59:59', '08:60'],
  ...[
    '00000000-0000-4000-8000-000000000000',
    'FFFFFFFF-ffff-1fff-0fff-FFFFFFFFFFFF',
    '00000000000040008000000000000000',
  ],
  ...[
    '{00000000-0000-4000-8000-000000000000}',
    'name@example.com',
    'ä@ö.de',
    'a@b',
    'a@b.c',
    'a@@b.c',
    'a b@c.d',
    'a@b.c.',
    '@b.c',
  ],
  ...[
    'YQ==',
    'YWI=',
    'YWJj',
    'YQ',
    'YR==',
    'YQ=',
    '/+AA',
    '_-AA',
    'YW Jj',
    `${'AAAA'.repeat(85)}`,
    'A'.repeat(344),
    '.',
    '..',
    '~',
    'a~b',
    '%',
    '/',
  ],
]

const NUMBERS: readonly number[] = [
  ...[
    0, 1, -1, 2, 5, 6, -5, -6, 0.5, -0.25, 12.5, 100, 101, 127, 128, 255, 256, 32767, 32768, -32768, -32769, 65535,
    65536,
  ],
  ...[2147483647, 2147483648, -2147483648, -2147483649, 4294967295, 999999.99, 1000000, 1e21, -1e21, 1e-7, 1e300],
  ...[9007199254740991, -9007199254740991, 9007199254740992, 3.4e38, 3.5e38],
]

const NAMES: readonly string[] = [
  'extra',
  'other',
  'name ',
  '__proto__',
  'constructor',
  'toString',
  '',
  'hasOwnProperty',
  'é',
]

/** Generates bodies that a schema allows, and bodies that the schema may reject. */
export class Bodies {
  readonly #document: OpenApiDocument
  readonly #ajv: Ajv2020
  readonly #random: Random
  readonly #known = new Map<JsonSchema, readonly unknown[]>()

  constructor(document: OpenApiDocument, ajv: Ajv2020, random: Random) {
    this.#document = document
    this.#ajv = ajv
    this.#random = random
  }

  /** Generates a body for a schema. Each part is valid, and the whole body usually is valid as well. */
  make(given: JsonSchema, depth = 0): unknown {
    const schema = this.#resolve(given)
    const { type, properties, items, anyOf, required } = schema
    if (Array.isArray(anyOf)) return this.make(oneOf(this.#random, anyOf), depth)
    const kind =
      oneOf(
        this.#random,
        [type]
          .flat()
          .filter((each) => each !== 'null' || chance(this.#random, 0.3))
          .concat(type === 'null' ? 'null' : []),
      ) ?? 'any'
    if (kind === 'object') return this.#object(Object(properties), required, depth)
    if (kind === 'array') return this.#array(schema, Object(items), depth)
    if (kind === 'boolean') return chance(this.#random, 0.5)
    if (kind === 'null') return null
    const values = this.#valuesOf(schema)
    return values.length === 0 ? null : oneOf(this.#random, values)
  }

  #object(properties: Readonly<Record<string, JsonSchema>>, required: unknown, depth: number): object {
    const needed = new Set(Array.isArray(required) ? required : [])
    const share = depth > 1 ? 0.2 : oneOf(this.#random, [0.1, 0.5, 0.9])
    const entries = Object.entries(properties)
      .filter(([name]) => needed.has(name) || chance(this.#random, share))
      .map(([name, schema]) => [name, this.make(schema, depth + 1)])
    return Object.fromEntries(entries)
  }

  #array({ maxItems = 3 }: JsonSchema, items: JsonSchema, depth: number): readonly unknown[] {
    return several(this.#random, 0, Math.min(Number(maxItems), 3), () => this.make(items, depth + 1))
  }

  #resolve(schema: JsonSchema): JsonSchema {
    const { $ref } = schema
    if (typeof $ref !== 'string') return schema
    const names = $ref.slice(2).split('/')
    return names.reduce<object>((at, name) => Object(Reflect.get(at, name)), this.#document) as JsonSchema
  }

  /** Known values that a schema without subschemas allows. */
  #valuesOf(schema: JsonSchema): readonly unknown[] {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    const { enum: values = [], minimum, maximum, minLength, maxLength } = schema
    const lengths = [minLength, maxLength].filter((each) => typeof each === 'number' && each < 1000)
    const all = [
      ...(Array.isArray(values) ? values : []),
      ...[minimum, maximum].filter((each) => each !== undefined),
      ...lengths.map((length) => 'q'.repeat(Number(length))),
      ...(schema.type === undefined ? [{}, [], { a: [1, null] }, [[]], true] : []),
      ...TEXTS,
      ...NUMBERS,
    ]
    const allowed = all.filter((value) => this.#ajv.validate(schema, value))
    this.#known.set(schema, allowed)
    return allowed
  }

  /** Copies a value and changes one part of the copy. */
  mutate(value: unknown): unknown {
    const random = this.#random
    const parts: readonly (readonly [string, unknown])[] =
      typeof value === 'object' && value !== null ? Object.entries(value) : []
    return weighted<unknown>(random, [
      [parts.length === 0 ? 0 : 8, () => this.#mutateMember(value, oneOf(random, parts))],
      [parts.length === 0 ? 0 : 1, () => removeMember(value, oneOf(random, parts)[0])],
      [parts.length === 0 && typeof value === 'object' ? 2 : 1, () => this.#grow(value)],
      [parts.length > 0 ? 0.2 : 2, () => this.#oddValue()],
      [typeof value === 'string' ? 4 : 0, () => this.#editText(String(value))],
      [
        typeof value === 'number' ? 3 : 0,
        () => oneOf(random, [Number(value) + 1, Number(value) - 1, -Number(value), String(value)]),
      ],
      [0.2, () => [value]],
    ])
  }

  #mutateMember(value: unknown, [name, part]: readonly [string, unknown]): unknown {
    return replaceMember(value, name, this.mutate(part))
  }

  #grow(value: unknown): unknown {
    if (Array.isArray(value)) return [...value, value[0] ?? this.#oddValue()]
    if (typeof value !== 'object' || value === null) return this.#oddValue()
    return replaceMember(value, oneOf(this.#random, NAMES), this.#oddValue())
  }

  #editText(text: string): string {
    const at = below(this.#random, text.length + 1)
    const letter = oneOf(this.#random, ['0', '9', 'a', 'Z', ' ', '-', '.', ':', '@', 'T', '+', '\n', 'é', '😀', '='])
    return oneOf(this.#random, [
      text.slice(0, at) + letter + text.slice(at),
      text.slice(0, at) + text.slice(at + 1),
      text.slice(0, at) + letter + text.slice(at + 1),
    ])
  }

  #oddValue(): unknown {
    const random = this.#random
    return weighted<unknown>(random, [
      [4, () => oneOf(random, TEXTS)],
      [4, () => oneOf(random, NUMBERS)],
      [2, () => oneOf<unknown>(random, [null, true, false])],
      [2, () => oneOf<unknown>(random, [{}, [], [1], ['a'], { a: 1 }, [null], [{}]])],
    ])
  }
}

/** Copies a value and replaces one own member. Any member name works, including `__proto__`. */
function replaceMember(value: unknown, name: string, part: unknown): unknown {
  if (Array.isArray(value)) return value.map((each, index) => (String(index) === name ? part : each))
  return Object.fromEntries([...Object.entries(Object(value)).filter(([each]) => each !== name), [name, part]])
}

function removeMember(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.filter((_, index) => String(index) !== name)
  return Object.fromEntries(Object.entries(Object(value)).filter(([each]) => each !== name))
}
