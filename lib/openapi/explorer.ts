// Forms on the documentation page that send GET requests for lists. Without JavaScript, the browser opens the response
// instead of the page.

import type { XCrud } from '../../types/openApi.js'
import { escapeHtml } from './html.js'

/**
 * Script of the forms. The script shows the response below the form, and writes the first record's key into the
 * commands of the resource. A token is sent with the request and never stored.
 */
export const FORM_SCRIPT = `for (const form of document.querySelectorAll('form.try')) {
  const [shown, token] = [form.querySelector('pre'), form.querySelector('input[type=password]')]
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const url = new URL(form.action)
    for (const { name, value } of form.querySelectorAll('input[name]')) if (value !== '') url.searchParams.set(name, value)
    const lines = ['GET ' + url.pathname + url.search]
    try {
      const headers = token === null || token.value === '' ? {} : { Authorization: 'Bearer ' + token.value }
      const reply = await fetch(url, { headers, cache: 'no-store' })
      const body = await reply.json()
      lines.push(reply.status + ' ' + reply.statusText, '', JSON.stringify(body, null, 2))
      const [first] = reply.ok && Array.isArray(body.items) ? body.items : []
      const key = form.dataset.key.split('~').map((name) => first?.[name])
      if (key.every((part) => part !== undefined && part !== null)) {
        const text = key.map((part) => encodeURIComponent(part)).join('~')
        for (const place of form.closest('section').querySelectorAll('.key')) place.textContent = text
      }
    } catch (error) {
      lines.push(String(error))
    }
    shown.hidden = false
    shown.textContent = lines.join('\\n')
  })
}
`

/** Writes the form of a list. `example` is a filter on the resource's fields, or null. */
export function writeForm(
  address: string,
  { key }: Pick<XCrud, 'key'>,
  { example, takesToken }: { readonly example: string | null; readonly takesToken: boolean },
): string {
  const inputs = [
    ['filter', 'Filter', example ?? ''],
    ['sort', 'Sort', `-${key.name.replaceAll('~', ',-')}`],
    ['select', 'Select', key.name.replaceAll('~', ',')],
  ] as const
  const fields = inputs.map(
    ([name, label, hint]) =>
      `<label>${label} <input name="${name}" placeholder="${escapeHtml(hint)}" autocomplete="off" spellcheck="false"></label>`,
  )
  const token = '<label>Token <input type="password" placeholder="sent as Bearer" autocomplete="off"></label>'
  return `<form class="try" action="${escapeHtml(address)}" method="get" data-key="${escapeHtml(key.name)}">
${fields.join('\n')}
${takesToken ? `${token}\n` : ''}<button>Send GET</button>
<pre tabindex="0" hidden></pre>
</form>`
}
