// Sends requests to the tested server, and reports responses that differ from the oracle.

import { Agent, request as httpRequest } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Answer } from '../server.js'
import type { Table } from './schema.js'

/** A response that differs from the oracle. */
export class Difference extends Error {
  override readonly name = 'Difference'
}

/** The parameters of a request, by name. */
export type Query = Readonly<Record<string, string>>

/** A list request with its response. */
export interface ListResponse {
  readonly request: string
  readonly body: Answer['body']
}

/** Sends list requests to one server over kept-alive connections, because `fetch` takes twice as long. */
export class Client {
  readonly #url: string
  // The client closes idle connections before the server's time-out. Otherwise a request could use a connection that
  // the server is closing.
  readonly #agent = new Agent({ keepAlive: true, timeout: 2000 })

  constructor(url: string) {
    this.#url = url
  }

  /** Requests a list. @throws Difference for a status other than 200 */
  async request({ path }: Pick<Table, 'path'>, query: Query): Promise<ListResponse> {
    const request = requestText(path, query)
    const { status, text } = await this.#get(`${path}?${new URLSearchParams(query)}`)
    if (status !== 200) throw new Difference(`${request}\n${status} ${text}`)
    return { request, body: JSON.parse(text) }
  }

  close(): void {
    this.#agent.destroy()
  }

  #get(path: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(this.#url + path, { agent: this.#agent }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      request.on('error', reject).end()
    })
  }
}

function requestText(path: string, query: Query): string {
  const parameters = Object.entries(query).map(([name, value]) => `  ${name}=${JSON.stringify(value)}`)
  return [`GET ${path}`, ...parameters].join('\n')
}

/** Compares two values. @throws Difference if the values are not equal */
export function assertSame(what: string, request: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return
  const [wanted, found] = [expected, actual].map((value) => JSON.stringify(value).slice(0, 2000))
  throw new Difference(`${request}\n${what}${findDifference(actual, expected)}\nexpected ${wanted}\nactual   ${found}`)
}

/** Describes the position of the first difference between two lists. */
function findDifference(actual: unknown, expected: unknown): string {
  if (!Array.isArray(actual) || !Array.isArray(expected)) return ''
  const at = expected.findIndex((value, index) => !isDeepStrictEqual(value, actual[index]))
  return at < 0 ? '' : `, which part at place ${at}: ${JSON.stringify(expected[at])}, but ${JSON.stringify(actual[at])}`
}

export function keyIn({ id }: { readonly id: unknown }): unknown {
  return id
}
