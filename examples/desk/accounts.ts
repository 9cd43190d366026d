import type { Account } from './models.js'

/** Accounts that can sign in. The passwords are public, because the accounts are only for trying the example. */
export const ACCOUNTS: readonly (Pick<Account, 'username' | 'password' | 'role'> & { readonly name: string })[] = [
  { username: 'rosa', password: 'one green kettle', role: 'requester', name: 'Rosa Rios' },
  { username: 'finn', password: 'two brass keys', role: 'requester', name: 'Finn Falk' },
  { username: 'mia', password: 'three wool socks', role: 'member', name: 'Mia Meyer' },
  { username: 'paul', password: 'four blue doors', role: 'member', name: 'Paul Parker' },
  { username: 'ada', password: 'five loud clocks', role: 'admin', name: 'Ada Adamska' },
]
