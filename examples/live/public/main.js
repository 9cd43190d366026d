// Puts the parts together: what people do goes to the API, what the API and the hub tell goes onto the board.

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

// ---------------------------------------------------------------- what is known

let orders = new Orders()
/** What a list that is under way will be, along with what happens in the meantime. */
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

/** Lists the orders anew. Of several under way, the last one counts. */
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
  // Listed once connected, nothing falls between the two. A recovered connection has missed nothing.
  if (!hub.recovered || !isListed) load()
})

hub.on('disconnect', () => {
  showConnection(board, 'lost', 'Reconnecting…')
  // After a word of the server's own the client leaves it at that.
  if (!hub.active) hub.connect()
})

hub.on('connect_error', ({ message }) => {
  showConnection(board, 'lost', hub.active ? 'Reconnecting…' : `Not connected: ${message}`)
  // The orders can be seen without the hub.
  if (!isAsked) load()
})

// ---------------------------------------------------------------- what people do

/**
 * Saves changes to an order. Where somebody else was first, whoever saves decides. Resolves to whether that is settled.
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

/** The order as it is now, on the board as well. */
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
  // The list shows what was chosen, which may not be what came of it.
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
    // Deleted is deleted, whoever did it.
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

// Where there is little room, the form is there when it is wanted.
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

// ---------------------------------------------------------------- in turn

const turns = new Map()

/** One after the other by order: the next change needs the version that the one before it made. */
function inTurn(id, work) {
  const turn = (turns.get(id) ?? Promise.resolve()).then(work)
  turns.set(id, turn)
}
