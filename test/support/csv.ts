/** Parses CSV (RFC 4180). An empty unquoted cell is null. A quoted cell may be an empty text. */
export function readCsv(text: string): (string | null)[][] {
  const rows: (string | null)[][] = []
  let row: (string | null)[] = []
  for (let at = 0; at < text.length; ) {
    let cell: string | null
    if (text[at] === '"') {
      let end = at + 1
      while (text[end] !== '"' || text[end + 1] === '"') end += text[end] === '"' ? 2 : 1
      cell = text.slice(at + 1, end).replaceAll('""', '"')
      at = end + 1
    } else {
      const [plain = ''] = /^[^,\r\n]*/.exec(text.slice(at, at + 100_000)) ?? []
      cell = plain === '' ? null : plain
      at += plain.length
    }
    row.push(cell)
    if (text[at] === ',') {
      at += 1
      if (text[at] === '\r' || at === text.length) row.push(null)
      else continue
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error(`no end of a line at ${at}: ${text.slice(at, at + 20)}`)
    rows.push(row)
    row = []
    at += 2
  }
  return rows
}
