/** A column of rows that one text says. */
export interface TextColumn {
  readonly name: string
  /** Whether it is there for numbers; where it is not, one in it is not taken from a text. */
  readonly isNumber: boolean
}
