// What people type and what the API takes, and what the API has against it.

/** The fields of a form as the API takes them. What is no number goes as it is: the API says what is wrong with it. */
export function read(form) {
  const { product, total, status } = Object.fromEntries(new FormData(form))
  const order = { product: product.trim(), total: numberOf(total.trim()) }
  return status === undefined ? order : { ...order, status }
}

function numberOf(text) {
  if (text === '') return null
  const number = /^-?\d+([.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : Number.NaN
  return Number.isFinite(number) ? number : text
}

export function fill(form, order) {
  form.elements.product.value = order.product
  form.elements.total.value = order.total ?? ''
  form.elements.status.value = order.status
  showErrors(form, {})
}

/** Puts messages at their fields, the focus on the first of them, and returns those of no field. */
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
  const label = input.labels[0].textContent
  const text = messages.map((message) => `${label} ${message}`).join(' ')
  document.getElementById(input.getAttribute('aria-describedby')).textContent = text
  if (text === '') input.removeAttribute('aria-invalid')
  else input.setAttribute('aria-invalid', 'true')
}

for (const input of document.querySelectorAll('form [name]')) {
  // What is being mended is no longer what the message was about.
  input.addEventListener('input', () => showMessages(input, []))
}

const AMOUNT = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 2 })

export function amountOf(total) {
  return total === null ? 'No total' : AMOUNT.format(total)
}
