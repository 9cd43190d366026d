// Dates in the form in which the database stores and compares them.

import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import { internals, sequelizeOf } from './internals.js'

interface DateType {
  stringify(value: Date, options: object): string
}

/** A date in the form in which the database stores it in the attribute's column. */
export function stringifyDate(model: ModelStatic<Model>, field: Field, value: Date): unknown {
  const type = typeOf(model, field)
  return type === null ? value : dateText(model, field, type as DateType, value)
}

/** A date for comparisons with the attribute's column. The stored form may lack milliseconds, for example on MySQL. */
export function comparedDate(model: ModelStatic<Model>, field: Field, value: Date): unknown {
  const type = typeOf(model, field)
  if (type === null) return value
  return dateText(model, field, exactly(type.constructor), value)
}

const exact = new WeakMap<object, DateType>()

/** A type of the same class that keeps milliseconds. */
function exactly(type: object): DateType {
  const known = exact.get(type)
  if (known !== undefined) return known
  const made = Reflect.construct(type as new (length: number) => DateType, [3])
  exact.set(type, made)
  return made
}

function dateText(model: ModelStatic<Model>, field: Field, type: DateType, value: Date): string {
  const { timezone } = internals(sequelizeOf(model)).options
  if (timezone !== UTC || !isOfFourDigits(value)) {
    return type.stringify(value, { timezone, field: model.getAttributes()[field.name] })
  }
  const known = formats.get(type)
  if (known !== undefined) return known(value)
  const write = (date: Date): string =>
    type.stringify(date, { timezone: UTC, field: model.getAttributes()[field.name] })
  const format = FORMATS.find((each) => PROBES.every((probe) => each(probe) === write(probe))) ?? write
  formats.set(type, format)
  return format(value)
}

const UTC = '+00:00'

/** Text of a UTC date as Sequelize's types write it, without the cost of Sequelize's formatter. */
const FORMATS: readonly ((date: Date) => string)[] = [
  (date) => `${plainText(date).slice(0, 23)} ${UTC}`,
  (date) => plainText(date).slice(0, 23),
  (date) => plainText(date).slice(0, 19),
]

/** Sample dates that distinguish the formats from each other and from types of the host. */
const PROBES = ['0001-02-03T04:05:06.007Z', '1969-12-31T23:59:59.999Z', '2024-02-29T12:34:56.789Z'].map(
  (text) => new Date(text),
)

const formats = new WeakMap<DateType, (date: Date) => string>()

// All time stamps of one request have the same instant.
let lastTime = Number.NaN
let lastText = ''

function plainText(date: Date): string {
  const time = date.getTime()
  if (time !== lastTime) {
    lastText = date.toISOString().replace('T', ' ')
    lastTime = time
  }
  return lastText
}

function isOfFourDigits(date: Date): boolean {
  const year = date.getUTCFullYear()
  return year >= 0 && year <= 9999
}

/** Time zone of stored dates without an offset. Default: `+00:00`. */
export function timezoneOf(model: ModelStatic<Model>): string {
  return internals(sequelizeOf(model)).options.timezone ?? '+00:00'
}

function typeOf(model: ModelStatic<Model>, field: Field): object | null {
  const attribute: unknown = model.getAttributes()[field.name]?.type
  const type: unknown = field.derived?.what === 'item' ? Reflect.get(Object(attribute), 'type') : attribute
  return typeof type === 'object' ? type : null
}
