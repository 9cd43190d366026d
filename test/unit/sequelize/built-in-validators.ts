import test from 'ava'
import { DataTypes, type ModelValidateOptions, Sequelize } from 'sequelize'
import { createCheck, isTextValid } from '../../../lib/sequelize/builtInValidators.js'
import { sqliteOptions } from '../../support/database.js'

const sequelize = new Sequelize({ ...sqliteOptions, logging: false })

// Each form in which Sequelize reads the settings of a validator.
const TESTS: readonly object[] = [
  ...[{ isIn: [['a', 'ab']] }, { isIn: { args: [['a', '1']], msg: 'No.' } }, { isIn: ['a', 'b'] }, { isIn: [[1, 2]] }],
  ...[{ notIn: [['a']] }, { notEmpty: true }, { notEmpty: { msg: 'No.' } }, { notEmpty: false }],
  ...[
    { isUrl: true },
    { isUrl: { msg: 'No.' } },
    { isURL: true },
    { isUrl: { args: { require_tld: false }, msg: 'No.' } },
  ],
  ...[{ isUrl: { require_protocol: true } }, { isUUID: 4 }, { isUUID: true }, { isUUID: { args: 4, msg: 'No.' } }],
  ...[{ isNumeric: true }, { isNumeric: { no_symbols: true } }, { isInt: true }, { isInt: { min: 2, max: 9 } }],
  ...[{ isFloat: { min: 1 } }, { isDecimal: true }, { isAlpha: true }, { isAlpha: ['de-DE'] }, { isAlpha: 'de-DE' }],
  ...[{ isAlphanumeric: { msg: 'No.' } }, { isLowercase: true }, { isUppercase: true }, { isIP: true }, { isIP: 6 }],
  ...[
    { isIPv4: true },
    { isIPv6: true },
    { isDate: true },
    { isAfter: '2026-01-01' },
    { isAfter: { comparisonDate: '2026-01-01' } },
  ],
  ...[{ isBefore: { args: '2026-01-01', msg: 'No.' } }, { contains: 'a' }, { contains: { args: 'b', msg: 'No.' } }],
  ...[{ notContains: 'a' }, { notContains: ['b'] }, { equals: 'a' }, { isCreditCard: true }],
]

const TEXTS = [
  ...[
    '',
    ' ',
    '\t\n',
    'a',
    'ab',
    'b',
    'A',
    'ä',
    '1',
    '2',
    '1.5',
    '+3',
    '10',
    '-1',
    '1e3',
    'a1',
    'a b',
    'true',
    'x'.repeat(50),
  ],
  ...[
    'example.com',
    'http://example.com',
    'http://localhost',
    '1.2.3.4',
    '::1',
    '2026-01-01',
    '2026-05-01',
    '2025-05-01',
  ],
  ...['8d2c7a86-5a6b-4c1d-9d6f-0a1b2c3d4e5f', '4111111111111111', 'Fri May 01 2026 00:00:00 GMT+0000'],
]

test('a check accepts what the validator of Sequelize accepts, in every form of its settings', async (t) => {
  for (const [index, validate] of TESTS.entries()) {
    const model = sequelize.define(`M${index}`, {
      text: { type: DataTypes.STRING, validate: validate as ModelValidateOptions },
    })
    const [[name = '', settings] = []] = Object.entries(validate)
    const check = createCheck(name, settings)
    if (check === null) {
      t.fail(JSON.stringify(validate))
      continue
    }
    for (const text of TEXTS) {
      const isValid = await model
        .build({ text })
        .validate()
        .then(
          () => true,
          () => false,
        )
      t.is(isTextValid(check, text), isValid, `${JSON.stringify(validate)} ${JSON.stringify(text)}`)
    }
  }
})

test('a validator that breaks on every text, a function and an unknown validator are no checks', (t) => {
  t.is(createCheck('isAfter', true), null)
  t.is(createCheck('isIn', null), null)
  t.is(createCheck('isIn', undefined), null)
  t.is(
    createCheck('isIn', () => true),
    null,
  )
  t.is(createCheck('own', true), null)
  t.is(createCheck('isMACAddress', true), null)
})
