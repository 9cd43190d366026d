// Kept for speed: SQL with literal values from a cached text.

import type { Model, ModelStatic } from 'sequelize'
import { escapeValue } from '../../sequelize/sql.js'
import { withSqlCache } from '../../sequelize/sqlCache.js'
import type { Operands } from './operands.js'

/** Encloses the number of a value. Literals of values have no NUL, because `escapeValue` encodes it. */
const MARK = '\0'

/**
 * Writes a statement with literal values. The text that `write` creates has a mark in the place of each value, so it is
 * the same for all values and can be cached. Returns null if a text of the host contains a NUL too.
 */
export function writeByMarks(model: ModelStatic<Model>, write: (operands: Operands) => string): string | null {
  const values: unknown[] = []
  const operands: Operands = { write: (value) => `${MARK}${values.push(value)}${MARK}` }
  const [start = '', ...parts] = withSqlCache(() => write(operands)).split(MARK)
  let sql = start
  for (let index = 0; index < parts.length; index += 2) {
    const number = Number(parts[index])
    const following = parts[index + 1]
    if (following === undefined || !(number >= 1 && number <= values.length)) return null
    sql += escapeValue(model, values[number - 1]) + following
  }
  return sql
}
