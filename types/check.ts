/** Returns whether a value is valid for an option. */
export type Check = (value: unknown) => boolean

/** The allowed members of an options object, by name. */
export type OptionShape = Readonly<Record<string, OptionRow>>

export interface OptionRow {
  readonly check: Check
  /** The expected value, for the error message: `a path`. */
  readonly expected: string
  /** The allowed members if the option takes an object. */
  readonly members?: OptionShape
  /**
   * True for an option that protects the resource. An undefined value is refused, because it would remove the
   * protection.
   */
  readonly isRestrictive?: true
}
