import type { AuthProvider } from 'react-admin'
import { resource } from 'sequelize-crud-router/client'
import { resource as resourceWithActions } from 'sequelize-crud-router/client/actions'
import { dataProvider as provide } from 'sequelize-crud-router/react-admin'

const TOKEN = 'token'

/** The token is stored until the tab is closed. */
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

/** Client for the links between products and tags, which react-admin's data provider does not support. */
export const products = resource<{ id: number; name: string }>('/api/products', { token })

/** Client of the desk's tickets, with the action that closes a ticket. */
export const tickets = resourceWithActions('/api/tickets', {
  token,
  actions: { close: { on: 'record', method: 'post' } },
})

/** Claims of the token. The server decides what users may do. The page only hides what they may not do. */
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
  // A user who lacks a permission stays signed in. A user whose token has expired must sign in again.
  checkError: async ({ status }) => {
    if (status === 401) throw new Error('Sign in again.')
  },
  getIdentity: async () => ({ id: claims().name ?? '', fullName: claims().name ?? '' }),
  getPermissions: async () => claims().role,
}
