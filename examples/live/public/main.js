// Connects the parts of the page. Actions of users become requests. Responses and events update the board.

import { io } from '/socket.io/socket.io.esm.min.js'
import * as api from './api.js'
import { Board } from './board.js'
import { showConnection } from './connection.js'
import { askWhetherStill, askWhose, isSureToDelete } from './dialogs.js'
import { edit, warn } from './editor.js'
import { read, showErrors } from './fields.js'
import { complain, tell } from './notices.js'
import { Orders } from './orders.js'

const notices = document.querySelector('#notices')
const board = new Board({
  edit: (id) => edit(orders.get(id), { onSave: save, onCreated: put }),
  remove: askAndRemove,
  move: (id, status) => inTurn(id, () => move(id, status)),
})

// ---------------------------------------------------------------- state

let orders = new Orders()
/** Orders of a list that is being loaded, including changes since its start. null if no list is being loaded. */
let arriving = null

function put(order) {
  arriving?.put(order)
  const before = orders.get(order.id)
  if (!orders.put(order)) return
  board.show(order)
  board.mark(order.id)
  warn(order.id, order)
  if (before === undefined) tell(`Added: ${order.product}.`)
  else if (before.status !== order.status) tell(`${order.product} is now ${order.status}.`)
  else tell(`Changed: ${order.product}.`)
}

function drop(id) {
  arriving?.delete(id)
  const before = orders.get(id)
  if (!orders.delete(id)) return
  board.remove(id)
  warn(id, null)
  tell(`Deleted: ${before.product}.`)
}

let isAsked = false
let isListed = false
let forgetFailedList = () => {}

/** Loads all orders. If several lists are being loaded, only the last one counts. */
async function load() {
  isAsked = true
  forgetFailedList()
  const mine = new Orders()
  arriving = mine
  try {
    for await (const order of api.list()) mine.put(order)
  } catch ({ message }) {
    if (arriving !== mine) return
    arriving = null
    isListed = false
    forgetFailedList = complain(notices, `The orders could not be loaded. ${message}`, load)
    return
  }
  if (arriving !== mine) return
  arriving = null
  isListed = true
  orders = mine
  board.showAll(orders)
  tell(orders.size === 1 ? 'There is 1 order.' : `There are ${orders.size} orders.`)
}

// ---------------------------------------------------------------- the hub

const hub = io('/api/orders/hub')
hub.on('OnCreated', put)
hub.on('OnUpdated', put)
hub.on('OnDeleted', drop)
hub.on('OnMissed', load)

hub.on('connect', () => {
  showConnection(board, 'live', 'Live')
  // The list is loaded after connecting, so that no change is missed. A recovered connection has missed no events.
  if (!hub.recovered || !isListed) load()
})

hub.on('disconnect', () => {
  showConnection(board, 'lost', 'Reconnecting…')
  // Socket.IO does not reconnect if the server ended the connection.
  if (!hub.active) hub.connect()
})

hub.on('connect_error', ({ message }) => {
  showConnection(board, 'lost', hub.active ? 'Reconnecting…' : `Not connected: ${message}`)
  // The orders are loaded even if the hub is unreachable.
  if (!isAsked) load()
})

// ---------------------------------------------------------------- actions of users

/**
 * Saves changes of an order. If another user was faster, this user decides. Resolves to true if the changes are saved
 * or given up.
 */
async function save(order, changes) {
  const names = Object.keys(changes)
  if (names.length === 0) return true
  for (let base = order; ; ) {
    try {
      put(await api.update(base, changes))
      return true
    } catch (error) {
      if (error.status === 404) drop(order.id)
      if (error.status !== 412) throw error
    }
    base = await latest(order.id)
    if (names.every((name) => base[name] === changes[name])) return true
    const answer = await askWhose({ ...base, ...changes }, base)
    if (answer !== 'mine') return answer === 'theirs'
  }
}

/** Loads the current state of an order, and shows it on the board. */
async function latest(id) {
  try {
    const order = await api.get(id)
    put(order)
    return order
  } catch (error) {
    if (error.status === 404) drop(id)
    throw error
  }
}

async function move(id, status) {
  const order = orders.get(id)
  if (order === undefined) return
  try {
    await save(order, { status })
  } catch (error) {
    fail(`${order.product} was not moved.`, error, () => inTurn(id, () => move(id, status)))
  }
  // The list shows the chosen status, but the order may have another status.
  const now = orders.get(id)
  if (now !== undefined) board.show(now)
}

async function askAndRemove(id) {
  const order = orders.get(id)
  if (await isSureToDelete(order)) remove(order)
}

async function remove(order) {
  try {
    for (let base = order; ; ) {
      try {
        await api.remove(base)
        break
      } catch (error) {
        if (error.status !== 412) throw error
      }
      const before = base
      base = await latest(order.id)
      if ((await askWhetherStill(before, base)) !== 'mine') return
    }
  } catch (error) {
    // The order is gone, even if another user has deleted it.
    if (error.status !== 404) {
      fail(`${order.product} was not deleted.`, error, () => remove(order))
      return
    }
  }
  drop(order.id)
}

function fail(text, { status, message }, retry) {
  if (status === 404) complain(notices, `${text} Somebody else has deleted it.`)
  else complain(notices, `${text} ${message}`, retry)
}

const add = document.querySelector('#add')
let isAdding = false

async function submitAdd() {
  if (isAdding) return
  isAdding = true
  showErrors(add, {})
  try {
    put(await api.create(read(add)))
    add.reset()
    add.elements.product.focus()
  } catch (error) {
    const rest = showErrors(add, error.errors)
    if (Object.keys(error.errors).length === 0) complain(notices, error.message, submitAdd)
    else if (rest.length > 0) complain(notices, rest.join(' '), submitAdd)
  } finally {
    isAdding = false
  }
}

add.addEventListener('submit', (event) => {
  event.preventDefault()
  submitAdd()
})

// In narrow windows, a button opens the form.
const opener = document.querySelector('#open-add')

function toggleAdd(isOpen) {
  opener.ariaExpanded = String(isOpen)
  add.classList.toggle('open', isOpen)
  if (isOpen) add.elements.product.focus()
  else opener.focus()
}

opener.addEventListener('click', () => toggleAdd(opener.ariaExpanded === 'false'))
add.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape' && opener.checkVisibility()) toggleAdd(false)
})

// ---------------------------------------------------------------- order of requests

const turns = new Map()

/**
 * Runs the changes of each order one after the other, because each change needs the version that the previous change
 * has created.
 */
function inTurn(id, work) {
  const turn = (turns.get(id) ?? Promise.resolve()).then(work)
  turns.set(id, turn)
}
