/** Whether a value of the host's is what an option takes. */
export type Check = (value: unknown) => boolean

/** What an object of options may hold, by name. */
export type OptionShape = Readonly<Record<string, OptionRow>>

export interface OptionRow {
  readonly check: Check
  /** What it must be, for the message: `a path`. */
  readonly what: string
  /** What the members of an object may be, where the option takes one. */
  readonly members?: OptionShape
  /** True for an option without which a resource is more open: it must not be there and undefined. */
  readonly guards?: true
}
