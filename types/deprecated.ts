/** The deprecation of a resource or a field. Dates are a `Date` or text in ISO 8601. */
export interface Deprecated {
  /**
   * The date of the deprecation, which may be in the future: clients should use something else from then on (RFC 9745).
   */
  readonly since: Date | string
  /** The date from which requests may fail, not before `since` (RFC 8594). */
  readonly sunset?: Date | string
  /** The address of a page for developers, absolute or a path of the server. */
  readonly link?: string
}

/** The option after its check. */
export interface Deprecation {
  readonly since: Date
  readonly sunset: Date | null
  readonly link: string | null
}
