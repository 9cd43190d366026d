// Converts between the form's texts and the API's values, and shows messages at fields.

const LANGUAGE = document.documentElement.lang
const DIGITS = { minimumFractionDigits: 2 }
const NUMBER = new Intl.NumberFormat(LANGUAGE, DIGITS)
const AMOUNT = new Intl.NumberFormat(LANGUAGE, { ...DIGITS, style: 'currency', currency: 'EUR' })

export function amountOf(total) {
  return total === null ? 'No total' : AMOUNT.format(total)
}

/** An amount can be read in two ways. `errors` has messages by field, like error responses of the API. */
class UnclearError extends Error {
  constructor(errors) {
    super('What was entered is not clear.')
    this.errors = errors
  }
}

/**
 * Reads the fields of a form as values for the API. A text that is not an amount is sent unchanged, because the API
 * explains what is wrong.
 * @throws UnclearError for an amount that can be read in two ways
 */
export function read(form) {
  const { product, total, status } = Object.fromEntries(new FormData(form))
  const order = { product: product.trim(), total: numberOf(total.trim()) }
  return status === undefined ? order : { ...order, status }
}

/** Amounts as the page writes them: 1890, 1,890 and 1,890.00. */
const OWN_WAY = /^-?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/
/** Amounts with a decimal comma: 9,5 and 9,50. Three digits after the comma are thousands. */
const DECIMAL_COMMA = /^-?\d+,\d{1,2}$/
/** Amounts such as 1.890, which some people read as a thousand and others as a number with three decimals. */
const EITHER_WAY = /^-?[1-9]\d{0,2}\.\d{3}$/
const LIKE_AN_AMOUNT = /^[-\d.,'’\s]+$/

function numberOf(text) {
  const amount = text.replace(/^(?:€|EUR)\s*|\s*(?:€|EUR)$/giu, '')
  if (amount === '') return null
  if (EITHER_WAY.test(amount)) {
    const thousands = NUMBER.format(amount.replace('.', ''))
    throw new UnclearError({ total: [`is not clear: write ${thousands}, or at most two digits after the point.`] })
  }
  if (OWN_WAY.test(amount)) return Number(amount.replaceAll(',', ''))
  if (DECIMAL_COMMA.test(amount)) return Number(amount.replace(',', '.'))
  if (!LIKE_AN_AMOUNT.test(amount)) return text
  throw new UnclearError({ total: [`is not clear: write it like ${NUMBER.format(1890)}.`] })
}

export function fill(form, order) {
  form.elements.product.value = order.product
  form.elements.total.value = order.total === null ? '' : NUMBER.format(order.total)
  form.elements.status.value = order.status
  showErrors(form, {})
}

/** Shows messages at their fields, and focuses the first such field. Returns the messages without a field. */
export function showErrors(form, errors) {
  const rest = { ...errors }
  let first = null
  for (const input of form.querySelectorAll('[name]')) {
    const messages = rest[input.name] ?? []
    delete rest[input.name]
    showMessages(input, messages)
    if (messages.length > 0) first ??= input
  }
  first?.focus()
  return Object.entries(rest).map(([name, messages]) => `${name} ${messages.join(' ')}`)
}

function showMessages(input, messages) {
  const label = input.labels[0].firstChild.data.trim()
  const text = messages.map((message) => `${label} ${message}`).join(' ')
  document.getElementById(input.getAttribute('aria-describedby')).textContent = text
  if (text === '') input.removeAttribute('aria-invalid')
  else input.setAttribute('aria-invalid', 'true')
}

for (const input of document.querySelectorAll('form [name]')) {
  // A message disappears when the user edits its field.
  input.addEventListener('input', () => showMessages(input, []))
}
