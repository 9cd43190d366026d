// Names of models and attributes for names of tables and columns.

import test from 'ava'
import { Model } from 'sequelize'
import { Names, RESERVED_MEMBERS, splitWords, toCamelCase, toModelName } from '../../../lib/create/words.js'
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
  const members = [...Object.getOwnPropertyNames(Model.prototype), ...Object.getOwnPropertyNames(Object.prototype)]
  const missing = members.filter((name) => !name.startsWith('_') && !RESERVED_MEMBERS.includes(name))
  t.deepEqual(missing, [])
})
