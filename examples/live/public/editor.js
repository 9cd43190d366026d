// The dialog that edits one order.

import { create } from './api.js'
import { fill, read, showErrors } from './fields.js'
import { complain } from './notices.js'

const dialog = document.querySelector('#editor')
const form = dialog.querySelector('form')
const title = dialog.querySelector('h2')
const hint = dialog.querySelector('.hint')
const notices = dialog.querySelector('.notices')
const submit = form.querySelector('[type=submit]')

/** The order as it was when the dialog opened; null when it was deleted since. */
let base = null
let isSaving = false
let save
let created

/**
 * Opens the dialog. `onSave` takes the order and the changed fields, and resolves to whether that is settled;
 * `onCreated` takes an order that was made of one that somebody else has deleted.
 */
export function edit(order, { onSave, onCreated }) {
  // What is still being saved may come back with a question or a message: first things first.
  if (!isSaving) {
    base = order
    save = onSave
    created = onCreated
    title.textContent = `Edit order #${order.id}`
    submit.textContent = 'Save'
    hint.textContent = ''
    notices.replaceChildren()
    fill(form, order)
  }
  dialog.showModal()
}

/** Tells whoever is editing the order that it has another state by now; null for none. */
export function warn(id, order) {
  if (!dialog.open || isSaving || base?.id !== id || order?.rowVersion <= base.rowVersion) return
  hint.textContent =
    order === null
      ? 'Somebody else has deleted this order meanwhile.'
      : 'Somebody else has changed this order meanwhile. When you save, you will see both versions.'
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  send()
})

async function send() {
  if (isSaving) return
  isSaving = true
  notices.replaceChildren()
  showErrors(form, {})
  try {
    if (base === null) {
      created(await create(read(form)))
      dialog.close()
    } else if (await save(base, changesOf(base, read(form)))) {
      dialog.close()
    }
  } catch (error) {
    explain(error)
  } finally {
    isSaving = false
  }
}

function changesOf(order, entered) {
  return Object.fromEntries(Object.entries(entered).filter(([name, value]) => order[name] !== value))
}

function explain({ status, message, errors = {} }) {
  // Whoever has closed it in the meantime believes that all is well.
  if (!dialog.open) dialog.showModal()
  if (status === 404) {
    base = null
    title.textContent = 'This order is gone'
    hint.textContent =
      'Somebody else has deleted this order. What you have entered is still here: add it as a new order.'
    submit.textContent = 'Add as a new order'
    submit.focus()
    return
  }
  const rest = showErrors(form, errors)
  if (Object.keys(errors).length === 0) complain(notices, message, send)
  else if (rest.length > 0) complain(notices, rest.join(' '), send)
}
