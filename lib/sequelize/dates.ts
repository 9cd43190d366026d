// Dates as the database stores and compares them.

import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import { internals, sequelizeOf } from './internals.js'

interface DateType {
  stringify(value: Date, options: object): string
}

/** A date as the database stores it in the attribute's column. */
export function stringifyDate(model: ModelStatic<Model>, field: Field, value: Date): unknown {
  const type = typeOf(model, field)
  return type === null ? value : dateText(model, field, type as DateType, value)
}

/** A date as it is compared with the attribute's column. Its text for storing may lack milliseconds: MySQL's does. */
export function comparedDate(model: ModelStatic<Model>, field: Field, value: Date): unknown {
  const type = typeOf(model, field)
  if (type === null) return value
  const exact = Reflect.construct(type.constructor, [3]) as DateType
  return dateText(model, field, exact, value)
}

function dateText(model: ModelStatic<Model>, field: Field, type: DateType, value: Date): string {
  const { timezone } = internals(sequelizeOf(model)).options
  return type.stringify(value, { timezone, field: model.getAttributes()[field.name] })
}

function typeOf(model: ModelStatic<Model>, field: Field): object | null {
  const type: unknown = model.getAttributes()[field.name]?.type
  return typeof type === 'object' ? type : null
}
