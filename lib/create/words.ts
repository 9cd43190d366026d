/** Derives JavaScript names from database names. Results consist of ASCII letters and digits. */

/** Singular and plural of English nouns, from Sequelize. */
export interface Grammar {
  readonly singularize: (word: string) => string
  readonly pluralize: (word: string) => string
}

/** Letters that Unicode does not decompose into an ASCII letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th' }

/**
 * Splits a name into words: `UnitPrice`, `unit_price` and `UNIT PRICE` become `unit` and `price`. Accents and
 * characters outside ASCII are removed.
 */
export function splitWords(name: string): readonly string[] {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþ]/giu, (letter) => LETTERS[letter.toLowerCase()] ?? '')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z\d]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

export function toCamelCase(words: readonly string[], otherwise: string): string {
  const name = words.map((word, index) => (index === 0 ? word : capitalize(word))).join('')
  return /^[a-z]/.test(name) ? name : `${otherwise}${capitalize(name)}`
}

/** Derives a model's name from a table's name. The last word becomes singular: `media_types` becomes `MediaType`. */
export function toModelName(table: string, { singularize }: Grammar): string {
  const words = splitWords(table)
  const last = words.at(-1) ?? ''
  const name = [...words.slice(0, -1), singularize(last).toLowerCase()].map(capitalize).join('')
  return /^[A-Z][A-Za-z\d]*$/.test(name) ? name : `Table${name.replace(/[^A-Za-z\d]/g, '')}`
}

/** Assigns unique names, ignoring case. A name that is taken gets a suffix, or a suffix and a number. */
export class Names {
  readonly #taken: Set<string>

  constructor(reserved: Iterable<string> = []) {
    this.#taken = new Set([...reserved].map((name) => name.toLowerCase()))
  }

  take(name: string, suffix = ''): string {
    const candidates = [name, ...(suffix === '' ? [] : [name + suffix])]
    for (let number = 2; ; number += 1) {
      const free = candidates.find((each) => !this.#taken.has(each.toLowerCase()))
      if (free !== undefined) {
        this.#taken.add(free.toLowerCase())
        return free
      }
      candidates.push(`${name}${suffix}${number}`)
    }
  }
}

/** Members of Sequelize instances and of all objects. Attributes and associations must not hide them. */
export const RESERVED_MEMBERS: readonly string[] = [
  ...[
    'constructor',
    'hasOwnProperty',
    'isPrototypeOf',
    'propertyIsEnumerable',
    'toLocaleString',
    'toString',
    'valueOf',
  ],
  ...['addHook', 'changed', 'dataValues', 'decrement', 'destroy', 'equals', 'equalsOneOf', 'get', 'getDataValue'],
  ...['hasHook', 'hasHooks', 'increment', 'isNewRecord', 'isSoftDeleted', 'previous', 'rawAttributes', 'reload'],
  ...['removeHook', 'restore', 'runHooks', 'save', 'sequelize', 'set', 'setAttributes', 'setDataValue'],
  ...['setValidators', 'toJSON', 'uniqno', 'update', 'validate', 'validators', 'where'],
]

/** Names that the generated files already use. */
export const RESERVED_NAMES: readonly string[] = [
  ...[
    'AddressInfo',
    'Array',
    'Buffer',
    'CreationOptional',
    'DataTypes',
    'Date',
    'InferAttributes',
    'InferCreationAttributes',
    'Model',
  ],
  ...['NodeSqlite', 'Object', 'Promise', 'Sequelize', 'String', 'Number', 'Boolean', 'Error', 'Function', 'Symbol'],
  ...['Math', 'JSON', 'Map', 'Problem', 'Set', 'Proxy', 'Reflect', 'RegExp', 'Server', 'User'],
]
