// The requests to api/orders, which is where this page is.

const PATH = new URL('api/orders', document.baseURI).pathname
const PAGE_SIZE = 100
const PATIENCE = 10_000
const UNKNOWN = 'Whether the order was added is not known: look at the board before you try again.'

/** An answer that is no success; status 0 when there was none. */
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

/** Every order, page after page. */
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

/** Changes some fields of an order, unless somebody else has changed it since: 412. */
export function update({ id, rowVersion }, changes) {
  return send(`${PATH}/${id}`, { method: 'PATCH', body: changes, version: rowVersion })
}

/** Deletes an order, unless somebody else has changed it since: 412. */
export function remove({ id, rowVersion }) {
  return send(`${PATH}/${id}`, { method: 'DELETE', version: rowVersion })
}
