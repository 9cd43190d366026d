// Shows the columns of the board with their cards, and reports what users do with the cards.

import { amountOf } from './fields.js'

const root = document.querySelector('#board')
const empty = document.querySelector('#empty')
const template = document.querySelector('#card-template')
const columns = new Map([...root.querySelectorAll('ul')].map((list) => [list.dataset.status, list]))

export class Board {
  #cards = new Map()
  #on

  /** @param on functions `edit`, `remove` and `move`, whose first argument is the order's id */
  constructor(on) {
    this.#on = on
  }

  /** Shows the given orders, and removes all others. */
  showAll(orders) {
    const ids = new Set([...orders].map(({ id }) => id))
    for (const id of [...this.#cards.keys()]) if (!ids.has(id)) this.#take(id)
    for (const order of orders) this.#put(order)
    root.ariaBusy = 'false'
    this.#count()
  }

  /** Shows an order in the column of its status. */
  show(order) {
    this.#put(order)
    this.#count()
  }

  /** Shows or hides the hint that the board may be out of date. */
  setStale(isStale) {
    root.classList.toggle('stale', isStale)
  }

  /** Animates the card of an order, so that users see that it has changed. */
  mark(id) {
    const card = this.#cards.get(id)
    card.classList.remove('changed')
    // Reading the layout makes the animation start again.
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
    // Cards are sorted by order number. The newest order comes first.
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
    // The next card gets the focus, if the removed card had it.
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

/** The input of the form for a new order. In narrow windows, the button that opens the form. */
function whereToAdd() {
  const product = document.querySelector('#add-product')
  return product.checkVisibility() ? product : document.querySelector('#open-add')
}

/** Keeps the focus on a card that is moved, because a moved element loses the focus. */
function keepingFocus(card, move) {
  const focused = card.contains(document.activeElement) ? document.activeElement : null
  move()
  focused?.focus()
}

/**
 * Arrow keys open the list. In some browsers, they would otherwise change the status step by step without opening it.
 */
function openByArrow(event) {
  if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || !('showPicker' in event.target)) return
  event.preventDefault()
  event.target.showPicker()
}
