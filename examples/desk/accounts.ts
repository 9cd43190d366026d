import type { Account } from './models.js'

/** Who can sign in. The accounts are for trying things out, which is why the passwords are here. */
export const ACCOUNTS: readonly (Pick<Account, 'username' | 'password' | 'role'> & { readonly name: string })[] = [
  { username: 'rosa', password: 'one green kettle', role: 'requester', name: 'Rosa Rios' },
  { username: 'finn', password: 'two brass keys', role: 'requester', name: 'Finn Falk' },
  { username: 'mia', password: 'three wool socks', role: 'member', name: 'Mia Meyer' },
  { username: 'paul', password: 'four blue doors', role: 'member', name: 'Paul Parker' },
  { username: 'ada', password: 'five loud clocks', role: 'admin', name: 'Ada Adamska' },
]
