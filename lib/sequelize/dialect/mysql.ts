import type { ValueOperator } from '../../language/operators.js'
import {
  COMPARISONS,
  type Dialect,
  type DriverOptions,
  exists,
  LIKE_PATTERNS,
  ordered,
  plain,
  type TextComparison,
  type TextComparisons,
  type TextTraits,
} from './dialect.js'

/** The bytes of a text in UTF-8: no collation folds, pads or ignores any of them. */
function bytes(expression: string): string {
  return `CAST(CONVERT(${expression} USING utf8mb4) AS BINARY)`
}

function folded(expression: string): string {
  return `CAST(LOWER(CONVERT(${expression} USING utf8mb4)) AS BINARY)`
}

function foldedBy(operator: ValueOperator): TextComparison {
  return { encode: plain, write: (column, operands) => COMPARISONS[operator](folded(column), operands.map(folded)) }
}

function equality(operator: 'eq' | 'in'): (how: TextTraits) => TextComparison {
  const compare = COMPARISONS[operator]
  return ({ ignoreCase, wide }) => {
    if (ignoreCase) return foldedBy(operator)
    return {
      encode: plain,
      write: (column, operands) => {
        const exact = compare(bytes(column), operands.map(bytes))
        return wide ? exact : `(${compare(column, operands)} AND ${exact})`
      },
    }
  }
}

function like(operator: keyof typeof LIKE_PATTERNS): (how: TextTraits) => TextComparison {
  const encode = LIKE_PATTERNS[operator]
  return ({ ignoreCase, wide }) => ({
    encode,
    write: (column, [operand = '']) => {
      const side = ignoreCase ? folded : bytes
      const exact = `${side(column)} LIKE ${side(operand)} ESCAPE '|'`
      // The collation's own LIKE finds a superset, through the index; the bytes decide.
      const isIndexed = operator === 'startsWith' && !ignoreCase && !wide
      return isIndexed ? `(${column} LIKE ${operand} ESCAPE '|' AND ${exact})` : exact
    },
  })
}

function endsWith({ ignoreCase }: TextTraits): TextComparison {
  const side = ignoreCase ? folded : bytes
  // LIKE would try the end at every place.
  const write = (column: string, end: string): string => `RIGHT(${column}, LENGTH(${end})) = ${end}`
  return { encode: plain, write: (column, [operand = '']) => write(side(column), side(operand)) }
}

const text: TextComparisons = {
  eq: equality('eq'),
  in: equality('in'),
  // In no other order than ORDER BY has, or keyset pages would lose records: the column's own.
  ...ordered((operator) => ({ ignoreCase }) => {
    return ignoreCase ? foldedBy(operator) : { encode: plain, write: COMPARISONS[operator] }
  }),
  contains: like('contains'),
  startsWith: like('startsWith'),
  endsWith,
}

/**
 * In other character sets than UTF-8 the drivers cut the code of a character they cannot send down to its last byte,
 * after Sequelize has escaped the text: `ħ` becomes the quote that ends it.
 */
function refuse({ charset, collation }: DriverOptions): string | null {
  const narrow = [charset, collation].find((name) => name !== undefined && !/^utf8/i.test(String(name)))
  return narrow === undefined ? null : `the connection's character set must be UTF-8 (utf8mb4), not ${narrow}`
}

/** MySQL: collations fold case and pad blanks, strings and numbers compare as floating point. */
export const mysql: Dialect = Object.freeze<Dialect>({
  name: 'mysql',
  refuse,
  column: (declared) => declared,
  binds: false,
  prepares: false,
  returnsInserted: false,
  returnsUpdated: false,
  insert: 'INSERT INTO',
  insertedKeys: 'SELECT CAST(LAST_INSERT_ID() AS CHAR) AS `first`, @@auto_increment_increment AS `step`',
  queuesWrites: false,
  // Were only the statement killed, the next one that the driver has in its queue would run.
  interrupt: { write: (connection) => `KILL ${Number(Reflect.get(connection, 'threadId'))}`, kills: true },
  longestAlias: Number.POSITIVE_INFINITY,
  jsonAsText: true,
  read: (column, { valueType }) => {
    // The drivers read a geometry by themselves, and the server has no text for it.
    if (valueType.form === 'geometry') return column
    if (valueType.type === 'json') return `CAST(${column} AS CHAR)`
    // A FLOAT by itself is written with six digits.
    return valueType.single === true ? `(${column} + 0e0)` : column
  },
  losesDigits: ({ valueType }) => valueType.single === true,
  operand: (placeholder, field) => {
    const { type, scale = 30 } = field.valueType
    if (type === 'decimal') return `CAST(${placeholder} AS DECIMAL(65, ${scale}))`
    if (type === 'bigint') return `CAST(${placeholder} AS DECIMAL(65, 0))`
    return placeholder
  },
  boolean: (value) => (value ? 1 : 0),
  exists,
  order: (column, direction, { enumeration }) =>
    `${enumeration ? `CAST(${column} AS CHAR)` : column} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  values: COMPARISONS,
  text,
})

/** MariaDB from 10.5 on: as MySQL, but an INSERT can return what it has stored. */
export const mariadb: Dialect = Object.freeze<Dialect>({ ...mysql, name: 'mariadb', returnsInserted: true })
