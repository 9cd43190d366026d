// Sends requests to api/orders. The path is relative to the page.

const PATH = new URL('api/orders', document.baseURI).pathname
const PAGE_SIZE = 100
const PATIENCE = 10_000
const UNKNOWN = 'Whether the order was added is not known: look at the board before you try again.'

/** Error of an unsuccessful response. The status is 0 if there was no response. */
export class RequestError extends Error {
  constructor(status, { title = 'The server answered with an error.', detail, errors = {} }) {
    super(detail === undefined ? title : `${title} ${detail}`)
    this.status = status
    /** Messages by field. */
    this.errors = errors
  }
}

async function send(path, { method = 'GET', body, version } = {}) {
  const headers = {}
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (version !== undefined) headers['If-Match'] = `W/"${version}"`
  let response
  let answer
  try {
    const signal = AbortSignal.timeout(PATIENCE)
    response = await fetch(path, { method, headers, body: JSON.stringify(body), cache: 'no-store', signal })
    answer = /json/.test(response.headers.get('Content-Type')) ? await response.json() : {}
  } catch {
    throw new RequestError(0, { title: 'The server does not answer.', detail: method === 'POST' ? UNKNOWN : undefined })
  }
  if (!response.ok) throw new RequestError(response.status, answer)
  return answer
}

/** Iterates over all orders, page by page. */
export async function* list() {
  for (let cursor = ''; cursor !== null; ) {
    const { items, nextCursor } = await send(`${PATH}?${new URLSearchParams({ cursor, pageSize: PAGE_SIZE })}`)
    yield* items
    cursor = nextCursor
  }
}

export function get(id) {
  return send(`${PATH}/${id}`)
}

export function create(order) {
  return send(PATH, { method: 'POST', body: order })
}

/** Changes some fields of an order. Rejects with status 412 if the order has changed since it was read. */
export function update({ id, rowVersion }, changes) {
  return send(`${PATH}/${id}`, { method: 'PATCH', body: changes, version: rowVersion })
}

/** Deletes an order. Rejects with status 412 if the order has changed since it was read. */
export function remove({ id, rowVersion }) {
  return send(`${PATH}/${id}`, { method: 'DELETE', version: rowVersion })
}
