import type { FieldType } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Cell, ExportContent } from '../../../types/reply.js'
import { invalidQuery } from '../../common/problem.js'
import { NUMBERS } from '../../common/values.js'
import type { Format } from '../formats.js'
import { exportOf, writeStream } from './stream.js'

/**
 * The CSV format (RFC 4180): a header, and a line for each record. Null is an empty cell, and an empty text is a pair
 * of quotes.
 */
export const csv: Format = Object.freeze<Format>({
  name: 'csv',
  mediaType: 'text/csv',
  parameters: 'header=present',
  kinds: new Set(['export']),
  hasEntityTag: false,
  headers: (content) => {
    const { name, hasCollections } = exportOf(content)
    if (hasCollections) throw invalidQuery('select', 'cannot contain a collection in CSV. Use format=jsonl instead.')
    return {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
    }
  },
  send: (out, content, { call }) => {
    const { batches, cells, keepsFormulas, isCounted } = exportOf(content)
    const escapes = { keepsFormulas, isCounted }
    return writeStream(out, call, batches, {
      head: joinCells(cells.map((cell) => quoteCell(cell.name))),
      line: (row) => joinCells(cells.map((cell) => formatCell(cell, row, escapes))),
      tail: (count) => (isCounted ? joinCells([`${TRAILER}${count}`, ...cells.slice(1).map(() => '')]) : ''),
    })
  },
})

/** Joins cells. A single empty cell is quoted, because readers skip empty lines. */
function joinCells(cells: readonly string[]): string {
  return `${cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')}\r\n`
}

/** The prefix of the last line, which states the number of records. */
const TRAILER = '#count='

type Escapes = Pick<ExportContent, 'keepsFormulas' | 'isCounted'>

function formatCell({ type, value: valueIn }: Cell, row: Row, { keepsFormulas, isCounted }: Escapes): string {
  const value = valueIn(row)
  if (value === null) return ''
  if (typeof value === 'object') return quoteCell(JSON.stringify(value))
  if (typeof value !== 'string') return String(value)
  // Without the apostrophe, clients would mistake this record for the line with the count.
  if (isCounted && value.startsWith(TRAILER)) return quoteCell(`'${value}`)
  return quoteCell(keepsFormulas || isNumberOrDate(type, value) ? value : escapeFormula(value))
}

function quoteCell(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Adds an apostrophe to texts that spreadsheets would run as a formula. The apostrophe marks the cell as text. */
function escapeFormula(text: string): string {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text
}

/**
 * Whether a text is a plain number or date, which cannot be a formula. Number and date columns may also store other
 * texts.
 */
function isNumberOrDate(type: FieldType, text: string): boolean {
  if (NUMBERS.has(type)) return /^-?\d+(?:\.\d+)?$/.test(text)
  return DATE_TYPES.has(type) && /^[+-]?\d+-\d\d-\d\d/.test(text)
}

const DATE_TYPES: ReadonlySet<FieldType> = new Set(['date', 'datetime'])
