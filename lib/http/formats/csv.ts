import type { FieldType } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Cell, Exported } from '../../../types/reply.js'
import { invalidQuery } from '../../common/problem.js'
import { NUMBERS } from '../../common/values.js'
import type { Format, Said } from '../formats.js'
import { stream } from './stream.js'

/** RFC 4180: a header, then a line for each record. Null is nothing, and empty text a pair of quotes. */
export const csv: Format = Object.freeze<Format>({
  name: 'csv',
  mediaType: 'text/csv',
  kinds: new Set(['export']),
  tagged: false,
  headers: (content) => {
    const { name, hasCollections } = tableIn(content)
    if (hasCollections) throw invalidQuery('select', 'cannot name a collection in CSV: JSON lines have room for them.')
    return {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
    }
  },
  send: (out, content, { call }) => {
    const { batches, cells, keepsFormulas, isCounted } = tableIn(content)
    const escapes = { keepsFormulas, isCounted }
    return stream(out, call, batches, {
      head: line(cells.map((cell) => quoted(cell.name))),
      line: (row) => line(cells.map((cell) => cellOf(cell, row, escapes))),
      tail: (count) => (isCounted ? line([`${TRAILER}${count}`, ...cells.slice(1).map(() => '')]) : ''),
    })
  },
})

function tableIn(content: Said): Exported {
  if (content.kind !== 'export') throw new TypeError(`a ${content.kind} is no table`)
  return content.value
}

/** A line of one empty cell would be an empty line, which readers leave out. */
function line(cells: readonly string[]): string {
  return `${cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')}\r\n`
}

/** The beginning of the last line of a file that is counted. */
const TRAILER = '#count='

type Escapes = Pick<Exported, 'keepsFormulas' | 'isCounted'>

function cellOf({ type, value: valueIn }: Cell, row: Row, { keepsFormulas, isCounted }: Escapes): string {
  const value = valueIn(row)
  if (value === null) return ''
  if (typeof value === 'object') return quoted(JSON.stringify(value))
  if (typeof value !== 'string') return String(value)
  // A record would end the file for a client that looks for the last line.
  if (isCounted && value.startsWith(TRAILER)) return quoted(`'${value}`)
  return quoted(keepsFormulas || isPlain(type, value) ? value : unformulated(value))
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Spreadsheets run what begins so, and take an apostrophe in front for "text". */
function unformulated(text: string): string {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text
}

/** Numbers that JSON has no room for, and dates, which are nobody's formula. What else is kept in such a column is text. */
function isPlain(type: FieldType, text: string): boolean {
  if (NUMBERS.has(type)) return /^-?\d+(?:\.\d+)?$/.test(text)
  return DATES.has(type) && /^[+-]?\d+-\d\d-\d\d/.test(text)
}

const DATES: ReadonlySet<FieldType> = new Set(['date', 'datetime'])
