import type { Field } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { PlainValue, Predicate } from '../../types/plan.js'
import { ownColumn } from '../common/columns.js'
import { isKeyValue } from '../common/keys.js'
import { among } from '../common/predicates.js'

/** Records by the values that tell them apart, as rows have them. */
export function identified(identity: readonly Field[], rows: readonly Row[]): Predicate {
  const [only, ...others] = identity
  if (only !== undefined && others.length === 0) {
    const values = rows.map(([value]) => plain(only.decode(value)))
    if (values.every(isKeyValue)) return among(only, values)
  }
  return { kind: 'or', nodes: rows.map((row) => identifiedBy(identity, row)) }
}

function identifiedBy(identity: readonly Field[], row: Row): Predicate {
  return {
    kind: 'and',
    nodes: identity.map(
      (field, index): Predicate => ({
        kind: 'compare',
        column: ownColumn(field),
        operator: 'eq',
        values: [plain(field.decode(row[index]))],
        ignoreCase: false,
        negated: false,
      }),
    ),
  }
}

function plain(value: unknown): PlainValue {
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}
