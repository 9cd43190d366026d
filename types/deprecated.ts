/** The deprecation of a resource or a field. Dates are a `Date` or text in ISO 8601. */
export interface Deprecated {
  /** The date of the deprecation (RFC 9745), past or future. From this date on, clients should use an alternative. */
  readonly since: Date | string
  /** The date from which requests may fail, not before `since` (RFC 8594). */
  readonly sunset?: Date | string
  /** The address of a page for developers, absolute or a path of the server. */
  readonly link?: string
}

/** The checked form of `Deprecated`. */
export interface Deprecation {
  readonly since: Date
  readonly sunset: Date | null
  readonly link: string | null
}
