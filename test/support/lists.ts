import type { Answer, TestClient } from './server.js'

export type Parameters = Readonly<Record<string, string | number | boolean>>

/** Sends a list request with encoded parameters. */
export async function list(server: TestClient, path: string, parameters: Parameters = {}): Promise<Answer> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value))
  return server.get(`${path}?${query}`)
}

/** Keys of a list's items, in their order. Throws an Error with the response text for a status other than 200. */
export async function keysOf<Key = number>(
  server: TestClient,
  path: string,
  parameters: Parameters = {},
): Promise<Key[]> {
  const { status, text, body } = await list(server, path, parameters)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.items.map(({ id }: { id: Key }) => id)
}
