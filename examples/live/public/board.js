// The columns and their cards. The board shows what it is given, and reports what is done to it.

import { amountOf } from './fields.js'

const root = document.querySelector('#board')
const empty = document.querySelector('#empty')
const template = document.querySelector('#card-template')
const columns = new Map([...root.querySelectorAll('ul')].map((list) => [list.dataset.status, list]))

export class Board {
  #cards = new Map()
  #on

  /** `on` has a function each for `edit`, `remove` and `move`; the first argument is the order's id. */
  constructor(on) {
    this.#on = on
  }

  /** Shows these orders and no others. */
  showAll(orders) {
    const ids = new Set([...orders].map(({ id }) => id))
    for (const id of [...this.#cards.keys()]) if (!ids.has(id)) this.#take(id)
    for (const order of orders) this.#put(order)
    root.ariaBusy = 'false'
    this.#count()
  }

  /** Shows an order in its place. */
  show(order) {
    this.#put(order)
    this.#count()
  }

  /** Shows whether what it shows may be out of date. */
  setStale(isStale) {
    root.classList.toggle('stale', isStale)
  }

  /** Draws the eye to an order. */
  mark(id) {
    const card = this.#cards.get(id)
    card.classList.remove('changed')
    // Reading the layout in between starts the animation anew.
    void card.offsetWidth
    card.classList.add('changed')
  }

  remove(id) {
    this.#take(id)
    this.#count()
  }

  #put(order) {
    const card = this.#cards.get(order.id) ?? this.#make(order.id)
    const { id, product, total, status } = order
    const select = card.querySelector('select')
    card.querySelector('h3').textContent = product
    card.querySelector('.number').textContent = `#${id}`
    card.querySelector('.total').textContent = amountOf(total)
    card.querySelector('.total').classList.toggle('none', total === null)
    select.value = status
    select.ariaLabel = `Status of ${product}`
    card.querySelector('.edit').ariaLabel = `Edit ${product}`
    card.querySelector('.delete').ariaLabel = `Delete ${product}`
    const item = card.parentElement
    const list = columns.get(status)
    // Newest first, as its number says.
    const next = [...list.children].find((other) => other !== item && Number(other.dataset.id) < id) ?? null
    if (item.parentElement !== list || item.nextElementSibling !== next)
      keepingFocus(card, () => list.insertBefore(item, next))
  }

  #make(id) {
    const item = template.content.firstElementChild.cloneNode(true)
    const card = item.querySelector('.card')
    item.dataset.id = id
    const heading = `order-${id}`
    card.querySelector('h3').id = heading
    card.setAttribute('aria-labelledby', heading)
    const select = card.querySelector('select')
    card.querySelector('.edit').addEventListener('click', () => this.#on.edit(id))
    card.querySelector('.delete').addEventListener('click', () => this.#on.remove(id))
    select.addEventListener('change', () => this.#on.move(id, select.value))
    select.addEventListener('keydown', openByArrow)
    this.#cards.set(id, card)
    return card
  }

  #take(id) {
    const card = this.#cards.get(id)
    if (card === undefined) return
    this.#cards.delete(id)
    const item = card.parentElement
    const neighbour = item.nextElementSibling ?? item.previousElementSibling
    const hadFocus = card.contains(document.activeElement)
    item.remove()
    // Whoever was at the card goes on next to it.
    if (hadFocus) (neighbour?.firstElementChild ?? whereToAdd()).focus()
  }

  #count() {
    for (const [status, list] of columns) {
      for (const count of document.querySelectorAll(`[data-count=${status}]`)) {
        count.textContent = list.childElementCount
      }
    }
    empty.hidden = this.#cards.size > 0
    empty.textContent = 'There are no orders yet. Add the first one above.'
  }
}

/** The form for a new order, or what opens it. */
function whereToAdd() {
  const product = document.querySelector('#add-product')
  return product.checkVisibility() ? product : document.querySelector('#open-add')
}

/** An element that is moved loses the focus. */
function keepingFocus(card, move) {
  const focused = card.contains(document.activeElement) ? document.activeElement : null
  move()
  focused?.focus()
}

/** Where arrow keys change a closed list, they would send an order through every status on the way. */
function openByArrow(event) {
  if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || !('showPicker' in event.target)) return
  event.preventDefault()
  event.target.showPicker()
}
