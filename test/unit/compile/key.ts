// Which attribute may be the key: only one that the model says is unique by itself, or one PATCH would write several records.

import test from 'ava'
import { DataTypes, type ModelAttributeColumnOptions, type ModelOptions, Sequelize } from 'sequelize'
import { CrudConfigError, crudRouter } from '../../../lib/index.js'
import { sqliteOptions } from '../../support/database.js'

const sequelize = new Sequelize({ ...sqliteOptions, logging: false })

type Unique = ModelAttributeColumnOptions['unique']
type Indexes = NonNullable<ModelOptions['indexes']>

interface Case {
  readonly unique?: Unique
  /** That of the other part. */
  readonly other?: Unique
  readonly indexes?: Indexes
}

function mount({ unique, other, indexes = [] }: Case): unknown {
  const part = { type: DataTypes.STRING(10), primaryKey: true }
  const Seat = sequelize.define(
    'Seat',
    {
      code: { ...part, field: 'seat_code', ...(unique === undefined ? {} : { unique }) },
      hall: { ...part, ...(other === undefined ? {} : { unique: other }) },
    },
    { timestamps: false, indexes: [...indexes] },
  )
  return crudRouter(Seat, { keyProperty: 'code' }).resource.key.name
}

const UNIQUE: readonly Case[] = [
  { unique: true },
  { unique: true, other: true },
  { unique: 'one_code' },
  { unique: { name: 'one_code', msg: 'taken' } },
  { unique: { msg: 'taken' } as Unique },
  { unique: 'one_code', other: 'one_hall' },
  { indexes: [{ unique: true, fields: ['code'] }] },
  { indexes: [{ unique: true, fields: ['seat_code'] }] },
  { indexes: [{ unique: true, fields: [{ name: 'code', order: 'DESC' }] }] },
  { indexes: [{ fields: ['hall'] }, { unique: true, fields: ['seat_code'] }] },
  { indexes: [{ type: 'UNIQUE', fields: ['seat_code'] }] },
]

const SHARED: readonly Case[] = [
  {},
  { other: true },
  { unique: 'one_seat', other: 'one_seat' },
  { unique: { name: 'one_seat', msg: 'taken' }, other: { name: 'one_seat', msg: 'taken' } },
  { indexes: [{ fields: ['code'] }] },
  { indexes: [{ unique: true, fields: ['hall'] }] },
  { indexes: [{ unique: true, fields: ['code', 'hall'] }] },
  { indexes: [{ unique: true, fields: ['code'], where: { hall: 'east' } }] },
]

test('a part of a primary key that is unique by itself may be the key', (t) => {
  for (const each of UNIQUE) t.is(mount(each), 'code', JSON.stringify(each))
})

test('what is no part of the primary key must be unique by itself all the same', (t) => {
  const numbered = ({ unique, other, indexes = [] }: Case): unknown => {
    const attribute = { type: DataTypes.STRING(10) }
    const Place = sequelize.define(
      'Place',
      {
        code: { ...attribute, field: 'seat_code', ...(unique === undefined ? {} : { unique }) },
        hall: { ...attribute, ...(other === undefined ? {} : { unique: other }) },
      },
      { timestamps: false, indexes: [...indexes] },
    )
    return crudRouter(Place, { keyProperty: 'code' }).resource.key.name
  }
  for (const each of UNIQUE) t.is(numbered(each), 'code', JSON.stringify(each))
  for (const each of SHARED) {
    const error = t.throws(() => numbered(each), { instanceOf: CrudConfigError, code: 'SDTO011' }, JSON.stringify(each))
    t.regex(error?.message ?? '', /^Place: the key "code" is neither the primary key nor unique by itself: name an /)
  }
})

test('an id that is no key of its table is none of the resource either', (t) => {
  const attributes = { id: DataTypes.INTEGER, code: { type: DataTypes.STRING(10), primaryKey: true } }
  const Entry = sequelize.define('Entry', attributes, { timestamps: false })
  t.throws(() => crudRouter(Entry), { instanceOf: CrudConfigError, code: 'SDTO011' })
  t.is(crudRouter(Entry, { keyProperty: 'code' }).resource.key.name, 'code')
})

test('an index names columns, so that of another attribute by the name of this one says nothing', (t) => {
  const attributes = {
    code: { type: DataTypes.STRING(10), field: 'hall' },
    hall: { type: DataTypes.STRING(10), field: 'code' },
  }
  const indexes = [{ unique: true, fields: ['code'] }]
  const Swapped = sequelize.define('Swapped', attributes, { timestamps: false, indexes })
  t.throws(() => crudRouter(Swapped, { keyProperty: 'code' }), { code: 'SDTO011' })
  t.is(crudRouter(Swapped, { keyProperty: 'hall' }).resource.key.name, 'hall')
})

test('a part of a primary key that is not is refused at mount', (t) => {
  for (const each of SHARED) {
    const error = t.throws(() => mount(each), { instanceOf: CrudConfigError, code: 'SDTO011' }, JSON.stringify(each))
    t.regex(error?.message ?? '', /"code" is a part of the primary key \(code, hall\)/)
  }
})
