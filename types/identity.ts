/** Who is asking, as the host's identity function tells it. `null` in its place is an anonymous caller. */
export interface Identity {
  readonly name: string | null
  readonly roles: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
  readonly claims: Readonly<Record<string, unknown>>
}
