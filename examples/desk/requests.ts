/** A request of the example, with the account that sends it. */
export interface DeskRequest {
  readonly title: string
  readonly as: string | null
  readonly method: string
  /** Path with the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON value, or the text of a file. */
  readonly body?: object | string
  /** Event that the request causes at the hub, if any. */
  readonly event?: 'OnCreated' | 'OnUpdated'
}

/** Account of the client that receives the events of tickets. */
export const LISTENER = 'mia'

const patch = { 'Content-Type': 'application/json', 'If-Match': '*' }

/** Requests to the newly started example. The requests work in this order. */
export const REQUESTS: readonly DeskRequest[] = [
  { title: 'Without a token: 401', as: null, method: 'GET', path: '/api/tickets' },
  {
    title: 'Rosa sees the tickets that she has opened, of all teams',
    as: 'rosa',
    method: 'GET',
    path: '/api/tickets?select=id,subject,team.name,waitingSince&sort=id',
  },
  {
    title: 'Mia is a member of one team, and sees the tickets of that team',
    as: 'mia',
    method: 'GET',
    path: '/api/tickets?select=id,subject,requester.name,waitingSince&sort=id',
  },
  { title: 'A ticket of another team does not exist for her: 404', as: 'mia', method: 'GET', path: '/api/tickets/2' },
  {
    title: 'Nor do its messages',
    as: 'mia',
    method: 'GET',
    path: '/api/messages?filter=ticketId=2&count=true',
  },
  {
    title: 'Tickets by a tag',
    as: 'mia',
    method: 'GET',
    path: '/api/tickets?filter=Tags.Any=vip&select=id,tags',
  },
  {
    title: 'Finn opens a ticket. It is his own, and he cannot set tags',
    as: 'finn',
    method: 'POST',
    path: '/api/tickets',
    body: { teamId: 1, subject: 'The screen flickers', tags: ['vip'] },
    event: 'OnCreated',
  },
  {
    title: 'He adds a file, by a route of the application beside the router',
    as: 'finn',
    method: 'PUT',
    path: '/api/tickets/4/attachments/screen.txt',
    headers: { 'Content-Type': 'text/plain' },
    body: 'It began on Monday.',
  },
  {
    title: 'Mia reads the ticket with its messages and files',
    as: 'mia',
    method: 'GET',
    path: '/api/tickets/4?select=id,subject,messages(text),attachments(name,size)',
  },
  {
    title: 'She answers under her own name',
    as: 'mia',
    method: 'POST',
    path: '/api/messages',
    body: { ticketId: 4, text: 'I will bring another cable.' },
    event: 'OnUpdated',
  },
  {
    title: 'Paul is in another team, and cannot write to a ticket that he does not see: 403',
    as: 'paul',
    method: 'POST',
    path: '/api/messages',
    body: { ticketId: 4, text: 'Let me in.' },
  },
  {
    title: 'Mia tags the ticket',
    as: 'mia',
    method: 'PATCH',
    path: '/api/tickets/4',
    headers: patch,
    body: { tags: ['hardware', 'vip'] },
    event: 'OnUpdated',
  },
  {
    title: 'She cannot move it to a team in which she would not see it: 403',
    as: 'mia',
    method: 'PATCH',
    path: '/api/tickets/4',
    headers: patch,
    body: { teamId: 2 },
  },
  {
    title: 'Finn closes it by an action, with a note',
    as: 'finn',
    method: 'POST',
    path: '/api/tickets/4/close?select=id,status,waitingSince',
    headers: patch,
    body: { note: 'It works again, thank you.' },
    event: 'OnUpdated',
  },
  {
    title: 'A second time: 409',
    as: 'mia',
    method: 'POST',
    path: '/api/tickets/4/close',
    headers: patch,
    body: { note: 'Done.' },
  },
  { title: 'Each caller has one account', as: 'mia', method: 'GET', path: '/api/me?select=*,person.name' },
  { title: 'and changes it', as: 'mia', method: 'PATCH', path: '/api/me', body: { signature: 'Mia, Network' } },
  {
    title: 'Ada, an admin, sees all tickets',
    as: 'ada',
    method: 'GET',
    path: '/api/tickets?count=true',
  },
  { title: 'and makes Paul a member of the other team', as: 'ada', method: 'PUT', path: '/api/teams/1/members/4' },
  { title: 'He sees its tickets at once', as: 'paul', method: 'GET', path: '/api/tickets?count=true' },
  {
    title: 'A misspelt parameter: 400 with a suggestion',
    as: 'mia',
    method: 'GET',
    path: '/api/tickets?limit=5',
  },
]

/** Shell command that sends a request. Tokens are in shell variables. */
export function commandOf({ as, method, path, headers, body }: DeskRequest, port: number): string {
  const given = headers ?? (body === undefined ? {} : { 'Content-Type': 'application/json' })
  const words = [
    'curl -g',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    `'localhost:${port}${path}'`,
    ...(as === null ? [] : [`-H "Authorization: Bearer $${as.toUpperCase()}"`]),
    ...Object.entries(given).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`-d '${textOf(body)}'`]),
  ]
  return words.join(' ')
}

export function textOf(body: object | string): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
