// Names of models and attributes for names of tables and columns.

import test from 'ava'
import { DataTypes, Model, Sequelize } from 'sequelize'
import { writeAllFiles } from '../../../lib/create/files/index.js'
import {
  Names,
  RESERVED_MEMBERS,
  RESERVED_NAMES,
  splitWords,
  toCamelCase,
  toModelName,
} from '../../../lib/create/words.js'
import { pluralize } from '../../../lib/sequelize/plurals.js'

const GRAMMAR = { singularize: (word: string) => word.replace(/s$/, ''), pluralize }

test('names are made of the words in those of the database', (t) => {
  for (const [name, camel, model] of [
    ['UnitPrice', 'unitPrice', 'UnitPrice'],
    ['order_lines', 'orderLines', 'OrderLine'],
    ['HTTPStatus', 'httpStatus', 'HttpStatu'],
    ['ALL_CAPS', 'allCaps', 'AllCap'],
    ['Größe (cm)', 'grosseCm', 'GrosseCm'],
    ['2fa', 'column2fa', 'Table2fa'],
    ['日本', 'column', 'Table'],
    ['__proto__', 'proto', 'Proto'],
  ] as const) {
    t.is(toCamelCase(splitWords(name), 'column'), camel)
    t.is(toModelName(name, GRAMMAR), model)
  }
})

test('names that differ by case alone, or that are taken, get a suffix and then a number', (t) => {
  const names = new Names(['update'])
  const taken = ['a', 'A', 'a', 'update', 'Update'].map((name) => names.take(name, 'Value'))
  t.deepEqual(taken, ['a', 'AValue', 'aValue2', 'updateValue', 'UpdateValue2'])
})

test('no attribute hides a member of an instance of Sequelize', (t) => {
  const sequelize = new Sequelize({ dialect: 'sqlite', dialectModule: {} })
  const defined = sequelize.define(
    'Note',
    { _key: { type: DataTypes.STRING, primaryKey: true } },
    { timestamps: false },
  )
  const prototypes = [defined.prototype, Model.prototype, Object.prototype]
  const members = prototypes.flatMap((prototype) => Object.getOwnPropertyNames(prototype))
  const missing = members.filter((name) => !name.startsWith('_') && !RESERVED_MEMBERS.includes(name))
  t.deepEqual(missing, [])
})

test('no model has the name of an import of the application', (t) => {
  const plan = { folder: '/', name: 'app', database: 'sqlite', docs: true, agents: true, live: true } as const
  const imported = new Set<string>()
  for (const language of ['typescript', 'javascript'] as const) {
    for (const from of [null, 'a.sqlite']) {
      for (const login of [true, false]) {
        const written = { source: '', models: [], notes: [] }
        for (const { content } of writeAllFiles({ ...plan, language, from, login, written, versions: {} })) {
          for (const [, names = ''] of content.matchAll(/^import (?:type )?\{([^}]*)\}/gm)) {
            for (const name of names.split(',')) imported.add(name.replace(/\btype\b/, '').trim())
          }
        }
      }
    }
  }
  t.true(imported.has('Problem') && imported.has('AddressInfo'))
  const missing = [...imported].filter((name) => /^[A-Z]/.test(name) && !RESERVED_NAMES.includes(name))
  t.deepEqual(missing, [])
})
