// Texts of a database in files of code: none of them can end the literal or the comment that it stands in.

import test from 'ava'
import fc from 'fast-check'
import { DataTypes, Sequelize } from 'sequelize'
import { toArrayLiteral, toComment, toLiteral, toMarkdown, toUnboundSql } from '../../../lib/create/text.js'
import { sqliteOptions } from '../../support/database.js'

const TEXTS = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        "'",
        '"',
        '`',
        '\\',
        `\${x}`,
        '*/',
        '//',
        '\n',
        '\r',
        '\u2028',
        '\u2029',
        '\ud800',
        '\u202e',
        'a',
      ),
    )
    .map((parts) => parts.join('')),
)

/** What a file with this expression has for it. */
function evaluated(expression: string): unknown {
  return new Function(`return ${expression}`)()
}

test('a literal is the text that was given, whatever stands in it', (t) => {
  fc.assert(fc.property(TEXTS, (text) => evaluated(toLiteral(text)) === text))
  fc.assert(
    fc.property(fc.array(TEXTS), (texts) => JSON.stringify(evaluated(toArrayLiteral(texts))) === JSON.stringify(texts)),
  )
  t.is(toLiteral(`it's \u202e`), `'it\\'s \\u{202e}'`)
})

test('a comment is one line that is no code', (t) => {
  fc.assert(fc.property(TEXTS, (text) => evaluated(`1 ${toComment(text)}\n + 1`) === 2))
  t.is(toComment('a\n*/ b\u2028c'), '// a */ b c')
})

test('a text in Markdown is one line without links and HTML', (t) => {
  t.is(toMarkdown('<b>[a](javascript:1)\n# b'), '\\<b\\>\\[a\\]\\(javascript:1\\) \\# b')
})

test('a default of SQLite has its value in statements of Sequelize, whatever stands in its texts and comments', async (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  for (const [expression, value] of [
    [`'US$x' || '$1' || '$$' || ':y?'`, 'US$x$1$$:y?'],
    ['5 -- five', 5],
    [`'--' || '"' /* '$1' */`, '--"'],
    [`'it''s $it' /* open`, `it's $it`],
  ] as const) {
    const Note = sequelize.define(
      'Note',
      {
        text: DataTypes.STRING,
        price: { type: DataTypes.STRING, defaultValue: Sequelize.literal(`(${toUnboundSql(expression)})`) },
      },
      { timestamps: false },
    )
    await Note.sync({ force: true })
    const { id } = (await Note.create({ text: 'a' })).get()
    t.is((await Note.findByPk(id))?.get('price'), String(value), expression)
  }
  await sequelize.close()
})
