// The dialog that edits an order.

import { create } from './api.js'
import { fill, read, showErrors } from './fields.js'
import { complain } from './notices.js'

const dialog = document.querySelector('#editor')
const form = dialog.querySelector('form')
const title = dialog.querySelector('h2')
const hint = dialog.querySelector('.hint')
const notices = dialog.querySelector('.notices')
const submit = form.querySelector('[type=submit]')

/** The order when the dialog was opened. null if the order was deleted since. */
let base = null
let isSaving = false
let save
let created

/**
 * Opens the dialog. `onSave` gets the order and the changed fields. `onSave` resolves to true if the dialog can be
 * closed. `onCreated` gets an order that was created again after another user had deleted it.
 */
export function edit(order, { onSave, onCreated }) {
  // While an order is being saved, the dialog keeps that order, because a question or an error may follow.
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

/** Tells the user that the edited order has changed. `order` is null if it was deleted. */
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
  // The user may have closed the dialog before the error arrived.
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
