import { type Agent, request } from 'node:http'

/** Describes a response except its time. The requested name, which the response repeats, is replaced. */
export function describeResponse(
  agent: Agent,
  url: string,
  name: string,
  headers: Record<string, string>,
): Promise<unknown> {
  // A suggested foreign key begins with the name of its relation. A name inside a foreign key is not replaced.
  const blankName = (value: string): string => value.replaceAll(new RegExp(`${name}(?!Id)`, 'g'), '?')
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => {
        const { statusCode: status = 0, rawHeaders } = response
        const lines = rawHeaders.filter((_, index, all) => all[index - (index % 2)] !== 'Date').map(blankName)
        // In a successful response, the name may be a member of a record, so it is not replaced.
        resolve({ status, headers: lines, text: status < 400 ? text : blankName(text) })
      })
    })
    outgoing.on('error', reject).end()
  })
}
