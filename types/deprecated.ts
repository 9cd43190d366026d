/** A resource or a field that the application is going to withdraw. Dates are a `Date`, or text in ISO 8601. */
export interface Deprecated {
  /** The date from which clients should use something else. It may be in the future. */
  readonly since: Date | string
  /** The date from which requests may fail. Not before `since`. */
  readonly sunset?: Date | string
  /** The address of a page for developers, absolute or a path of the server. */
  readonly link?: string
}

/** The option as it was checked. */
export interface Deprecation {
  readonly since: Date
  readonly sunset: Date | null
  readonly link: string | null
}
