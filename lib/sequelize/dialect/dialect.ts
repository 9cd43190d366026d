import type {
  Comparison,
  Comparisons,
  Dialect,
  Failure,
  TextComparison,
  TextComparisons,
  TextTraits,
  ValueTraits,
} from '../../../types/dialect.js'
import type { Column, ComparePredicate } from '../../../types/plan.js'
import type { ValueOperator } from '../../language/operators.js'

/** The traits of a predicate that compares text. */
export function traitsOf({ column, ignoreCase }: Compared, { wide, long }: ValueTraits): TextTraits {
  const { binary = false, padded = false } = column.field.valueType
  return { ignoreCase, wide, long, binary, padded }
}

type Compared = Pick<ComparePredicate, 'ignoreCase'> & { readonly column: Pick<Column, 'field'> }

/** The characters of a text that is long: few enough to be looked for at every place of another. */
const LONG = 64

export function valueTraitsOf(values: readonly unknown[]): ValueTraits {
  return {
    wide: values.some((value) => typeof value === 'string' && /[\u{10000}-\u{10ffff}]/u.test(value)),
    long: values.some((value) => typeof value === 'string' && value.length > LONG),
  }
}

/** Writes `%`, `_` and the escape character itself as text for LIKE ... ESCAPE '|'. */
export function escapeLike(text: string): string {
  return text.replace(/[%_|]/g, '|$&')
}

/** What is looked for by LIKE, its wildcards aside. */
export const LIKE_PATTERNS: Readonly<Record<'contains' | 'startsWith', (text: string) => string>> = Object.freeze({
  contains: (text: string) => `%${escapeLike(text)}%`,
  startsWith: (text: string) => `${escapeLike(text)}%`,
})

export function exists(rows: string): string {
  return `EXISTS (${rows})`
}

/** The text itself. */
export function plain(text: string): string {
  return text
}

function by(symbol: string): Comparison {
  return (column, [operand = '']) => `${column} ${symbol} ${operand}`
}

/** The comparisons that every database writes alike. */
export const COMPARISONS: Comparisons = Object.freeze({
  eq: by('='),
  gt: by('>'),
  gte: by('>='),
  lt: by('<'),
  lte: by('<='),
  in: (column, operands) => `${column} IN (${operands.join(', ')})`,
})

/**
 * The capabilities and texts of a database that is as the standard has it, and does nothing beyond. A dialect says what
 * is otherwise; its name, the place of nulls, comparisons of text and failures no two have in common.
 */
export const STANDARD: Omit<Dialect, 'name' | 'order' | 'text' | 'failures'> = Object.freeze({
  refuse: () => null,
  column: (declared) => declared,
  binds: true,
  prepares: false,
  returnsInserted: false,
  returnsUpdated: false,
  insert: 'INSERT INTO',
  insertedKeys: null,
  queuesWrites: false,
  mend: null,
  interrupt: null,
  longestAlias: Number.POSITIVE_INFINITY,
  jsonAsText: false,
  read: (column) => column,
  losesDigits: () => false,
  operand: (placeholder) => placeholder,
  boolean: (value) => value,
  exists,
  values: COMPARISONS,
  foreignKeys: null,
} satisfies Omit<Dialect, 'name' | 'order' | 'text' | 'failures'>)

/** Codes of one meaning, as entries of a map. */
export function each<F extends Failure>(failure: F, ...codes: readonly unknown[]): (readonly [unknown, F])[] {
  return codes.map((code) => [code, failure] as const)
}

/** What the operating system says of connections, whatever the driver. */
export const NETWORK: readonly string[] = [
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]

type Ordered = Exclude<ValueOperator, 'eq' | 'in'>

/** Text that is ordered, by each of the operators for that. */
export function ordered(
  write: (operator: Ordered) => (how: TextTraits) => TextComparison,
): Pick<TextComparisons, Ordered> {
  return { gt: write('gt'), gte: write('gte'), lt: write('lt'), lte: write('lte') }
}
