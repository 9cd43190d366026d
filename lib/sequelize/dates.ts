// Dates as the database stores and compares them.

import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { internalsOf, sequelizeOf } from './internals.js'

interface DateType {
  stringify(value: Date, options: object): string
}

/** Formats a date as the database stores it in the attribute's column. */
export function stringifyDate(model: ModelStatic<Model>, field: Field, value: Date): unknown {
  const type = typeOf(model, field)
  return type === null ? value : formatDate(model, field, type as DateType, value)
}

/**
 * Formats a date with milliseconds, for comparisons with the attribute's column. The stored form may lack milliseconds,
 * for example on MySQL.
 */
export function comparableDate(model: ModelStatic<Model>, field: Field, value: Date): unknown {
  const type = typeOf(model, field)
  if (type === null) return value
  return formatDate(model, field, exactTypeOf(type.constructor), value)
}

const exactTypes = new WeakMap<object, DateType>()

/** Returns an instance of a date type that keeps milliseconds. */
function exactTypeOf(type: object): DateType {
  return getOrCreate(exactTypes, type, () => Reflect.construct(type as new (length: number) => DateType, [3]))
}

function formatDate(model: ModelStatic<Model>, field: Field, type: DateType, value: Date): string {
  const { timezone } = internalsOf(sequelizeOf(model)).options
  const year = value.getUTCFullYear()
  if (timezone !== UTC || year < 0 || year > 9999) {
    return type.stringify(value, { timezone, field: model.getAttributes()[field.name] })
  }
  const known = formatsByType.get(type)
  if (known !== undefined) return known(value)
  const writeDate = (date: Date): string =>
    type.stringify(date, { timezone: UTC, field: model.getAttributes()[field.name] })
  const format = FORMATS.find((each) => SAMPLE_DATES.every((probe) => each(probe) === writeDate(probe))) ?? writeDate
  formatsByType.set(type, format)
  return format(value)
}

const UTC = '+00:00'

/** Functions that format a UTC date like Sequelize's types, without the cost of Sequelize's formatter. */
const FORMATS: readonly ((date: Date) => string)[] = [
  (date) => `${formatUtc(date).slice(0, 23)} ${UTC}`,
  (date) => formatUtc(date).slice(0, 23),
  (date) => formatUtc(date).slice(0, 19),
]

/** Sample dates that distinguish the formats from each other and from types of the host. */
const SAMPLE_DATES = ['0001-02-03T04:05:06.007Z', '1969-12-31T23:59:59.999Z', '2024-02-29T12:34:56.789Z'].map(
  (text) => new Date(text),
)

const formatsByType = new WeakMap<DateType, (date: Date) => string>()

// Cache of one date, because all timestamps of a request are one instant.
let lastFormattedTime = Number.NaN
let lastFormattedText = ''

function formatUtc(date: Date): string {
  const time = date.getTime()
  if (time !== lastFormattedTime) {
    lastFormattedText = date.toISOString().replace('T', ' ')
    lastFormattedTime = time
  }
  return lastFormattedText
}

/** Returns the time zone of stored dates without an offset. Default: `+00:00`. */
export function timezoneOf(model: ModelStatic<Model>): string {
  return internalsOf(sequelizeOf(model)).options.timezone ?? '+00:00'
}

function typeOf(model: ModelStatic<Model>, field: Field): object | null {
  const attribute: unknown = model.getAttributes()[field.name]?.type
  const type: unknown = field.derived?.kind === 'item' ? Reflect.get(Object(attribute), 'type') : attribute
  return typeof type === 'object' ? type : null
}
