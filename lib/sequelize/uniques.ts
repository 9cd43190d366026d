import type { Model, ModelStatic } from 'sequelize'
import { preparationOf } from './internals.js'

/** Whether a unique index covers only some of the records, or an expression. */
export function hasPartialUnique(model: ModelStatic<Model>): boolean {
  const { _indexes: indexes = [] } = preparationOf(model)
  return indexes.some(({ unique, where, fields = [] }) => {
    return unique === true && (where !== undefined || fields.some((field) => !isColumn(field)))
  })
}

/** Whether a part of an index is a column instead of an expression. */
function isColumn(field: unknown): boolean {
  if (typeof field === 'string') return true
  const { name, attribute }: { readonly name?: unknown; readonly attribute?: unknown } = Object(field)
  return typeof (name ?? attribute) === 'string'
}
