import { randomBytes } from 'node:crypto'

// Around a slot's number, while a text is being written. Random, so that nothing else in the text can be one: a default
// scope may hold values that came from clients.
const MARK = randomBytes(12).toString('hex')
const TOKEN = new RegExp(`${MARK}:(\\d+);`)

/** The place of a value in the text of a statement that is being written. */
export function placeholder(slot: number): string {
  return `${MARK}:${slot};`
}

/** Text around places, one more than these, and which values stand in them. */
export interface Pieces {
  readonly pieces: readonly string[]
  readonly slots: readonly number[]
}

/** A text that was written with placeholders. */
export function taken(written: string): Pieces {
  const parts = written.split(TOKEN)
  return {
    pieces: parts.filter((_, index) => index % 2 === 0),
    slots: parts.filter((_, index) => index % 2 === 1).map(Number),
  }
}

/** The pieces of an INSERT of one row for several, made when somebody asks for them: where its text is enough, nobody does. */
export class Rows implements Pieces {
  readonly #row: Pieces
  readonly #rows: number
  #made: Pieces | null = null

  constructor(row: Pieces, rows: number) {
    this.#row = row
    this.#rows = rows
  }

  get pieces(): readonly string[] {
    return this.#all().pieces
  }

  get slots(): readonly number[] {
    return this.#all().slots
  }

  /** The text for places without numbers; null where the values do not stand in the order of their places. */
  get unnumbered(): string | null {
    const { pieces, slots } = this.#row
    if (slots.length === 0 || !slots.every((slot, index) => slot === index)) return null
    const row = `?${slots
      .slice(1)
      .map((slot) => `${pieces[slot] ?? ''}?`)
      .join('')}`
    return `${pieces[0] ?? ''}${row}${`${NEXT_ROW}${row}`.repeat(this.#rows - 1)}${pieces[slots.length] ?? ''}`
  }

  #all(): Pieces {
    this.#made ??= this.#make()
    return this.#made
  }

  #make(): Pieces {
    const { length } = this.#row.slots
    const pieces = this.#row.pieces.slice(0, length)
    const slots = [...this.#row.slots]
    for (let row = 1; row < this.#rows; row++) {
      for (let index = 0; index < length; index++) {
        pieces.push(index === 0 ? NEXT_ROW : (this.#row.pieces[index] ?? ''))
        slots.push((this.#row.slots[index] ?? 0) + row * length)
      }
    }
    pieces.push(this.#row.pieces[length] ?? '')
    return { pieces, slots }
  }
}

const NEXT_ROW = '), ('
