// Dates in statements of our own, compared with those that Sequelize's types write.

import test from 'ava'
import { DataTypes, Sequelize } from 'sequelize'
import { comparableDate, stringifyDate } from '../../../lib/sequelize/dates.js'
import type { Field } from '../../../types/field.js'
import { dialectOptions } from '../../support/database.js'

test('dates are written as Sequelize’s types write them, in every time zone and of a host’s own type as well', (t) => {
  const instants = [
    '0000-01-01T00:00:00.000Z',
    '0999-12-31T23:59:59.999Z',
    '2024-02-29T12:30:00.000Z',
    '9999-12-31T23:59:59.999Z',
  ]
  const dates = [
    ...instants.map((text) => new Date(text)),
    new Date(253_402_300_800_000),
    new Date(-62_198_755_200_000),
  ]
  for (const dialect of ['sqlite', 'postgres', 'mysql', 'mariadb'] as const) {
    for (const timezone of ['+00:00', '+02:00', 'Europe/Paris']) {
      // SQLite's text has the offset in it, and Sequelize lets it have no other.
      const zone = dialect === 'sqlite' ? '+00:00' : timezone
      const other = new Sequelize({ ...dialectOptions(dialect), timezone: zone, logging: false })
      const model = other.define('dated', {
        plain: DataTypes.DATE,
        exact: DataTypes.DATE(3),
        day: DataTypes.DATEONLY,
        minutes: Object.assign(DataTypes.DATE(), { _stringify: (date: Date) => date.toISOString().slice(0, 16) }),
      })
      for (const [name, attribute] of Object.entries(model.getAttributes())) {
        const type = attribute.type as object as { stringify?(date: Date, options: object): string }
        if (!/^(plain|exact|day|minutes)$/.test(name)) continue
        const field = { name } as Field
        for (const date of [...dates, ...dates]) {
          t.is(stringifyDate(model, field, date), type.stringify?.(date, { timezone: zone }), `${dialect} ${name}`)
        }
        if (name !== 'plain') continue
        const exact = model.getAttributes().exact?.type as object as typeof type
        for (const date of dates) t.is(comparableDate(model, field, date), exact.stringify?.(date, { timezone: zone }))
      }
    }
  }
})
