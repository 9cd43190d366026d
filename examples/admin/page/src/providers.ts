import type { AuthProvider } from 'react-admin'
import { resource } from 'sequelize-crud-router/client'
import { resource as resourceWithActions } from 'sequelize-crud-router/client/actions'
import { dataProvider as provide } from 'sequelize-crud-router/react-admin'

const TOKEN = 'token'

/** For as long as the tab is open. */
const token = () => sessionStorage.getItem(TOKEN)

const search = true
export const dataProvider = provide('/api', {
  token,
  resources: {
    customers: { search },
    employees: { search },
    orders: { search },
    products: { search },
    tickets: { search },
  },
})

/** For what react-admin has no words for: the links between products and tags. */
export const products = resource<{ id: number; name: string }>('/api/products', { token })

/** The tickets of the desk, with the action that closes one. */
export const tickets = resourceWithActions('/api/tickets', {
  token,
  actions: { close: { on: 'record', method: 'post' } },
})

/** What the token says of its owner. The server decides what they may do: the page shows less to those who may less. */
function claims(): { readonly name?: string; readonly role?: string } {
  const [, payload = ''] = (token() ?? '').split('.')
  return payload === '' ? {} : JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')))
}

export const authProvider: AuthProvider = {
  login: async ({ username, password }) => {
    const response = await fetch('/login', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username, password }),
    })
    const body = await response.json()
    if (!response.ok) throw new Error(body.detail ?? body.title)
    sessionStorage.setItem(TOKEN, body.token)
  },
  logout: async () => sessionStorage.removeItem(TOKEN),
  checkAuth: async () => {
    if (token() === null) throw new Error('Sign in first.')
  },
  // Who may not do something stays; whose token has ended signs in again.
  checkError: async ({ status }) => {
    if (status === 401) throw new Error('Sign in again.')
  },
  getIdentity: async () => ({ id: claims().name ?? '', fullName: claims().name ?? '' }),
  getPermissions: async () => claims().role,
}
