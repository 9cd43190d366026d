/** An account that can sign in. */
export interface Account {
  readonly username: string
  readonly password: string
  readonly role: 'employee' | 'manager' | 'admin'
  readonly tenant: string
}

/** Accounts for trying the example. The passwords are public. */
export const ACCOUNTS: readonly Account[] = [
  { username: 'erin', password: 'one lemon tree', role: 'employee', tenant: 'acme' },
  { username: 'mara', password: 'two paper boats', role: 'manager', tenant: 'acme' },
  { username: 'ada', password: 'three tin drums', role: 'admin', tenant: 'acme' },
  { username: 'gus', password: 'four stone steps', role: 'manager', tenant: 'globex' },
]
