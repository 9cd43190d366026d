// Dialogs that ask whether to delete an order, and which version of an order to keep.

import { amountOf } from './fields.js'

/** Shows a dialog. Resolves to the value of the clicked button, or to '' if the dialog was closed without a button. */
function ask(dialog) {
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue), { once: true })
  })
}

for (const button of document.querySelectorAll('dialog [data-answer]')) {
  button.addEventListener('click', () => button.closest('dialog').close(button.dataset.answer))
}

const deletion = document.querySelector('#deletion')

export async function isSureToDelete({ id, product }) {
  deletion.querySelector('p').textContent = `${product} (#${id}) will be gone for everybody.`
  return (await ask(deletion)) === 'delete'
}

const conflict = document.querySelector('#conflict')
const FIELDS = [
  ['Product', ({ product }) => product],
  ['Total', ({ total }) => amountOf(total)],
  ['Status', ({ status }) => status],
]

/** Asks which version of an order to keep. Resolves to 'mine', 'theirs' or '' for neither. */
export function askWhose(mine, theirs) {
  return compare([mine, 'Yours'], [theirs, 'Theirs'], {
    text: 'What you have entered is not saved yet. Compare it with what is there now.',
    mine: 'Save mine',
    theirs: 'Take theirs',
  })
}

/** Asks whether to delete an order although it has changed. 'mine' deletes it. */
export function askWhetherStill(before, now) {
  return compare([before, 'Before'], [now, 'Now'], {
    text: 'It is not deleted yet. Compare what you saw with what is there now.',
    mine: 'Delete all the same',
    theirs: 'Keep it',
  })
}

let turn = Promise.resolve()

/**
 * Shows a comparison of two versions. Two requests may find a conflict at the same time, so one dialog is shown after
 * the other.
 */
function compare([left, leftName], [right, rightName], { text, mine, theirs }) {
  turn = turn.then(() => {
    conflict.querySelector('#conflict-text').textContent = text
    conflict.querySelector('th.mine').textContent = leftName
    conflict.querySelector('th.theirs').textContent = rightName
    conflict.querySelector('[data-answer=mine]').textContent = mine
    conflict.querySelector('[data-answer=theirs]').textContent = theirs
    const rows = FIELDS.map(([name, textOf]) => row(name, textOf(left), textOf(right)))
    conflict.querySelector('tbody').replaceChildren(...rows)
    return ask(conflict)
  })
  return turn
}

function row(name, left, right) {
  const line = document.createElement('tr')
  const head = document.createElement('th')
  head.scope = 'row'
  head.textContent = name
  line.append(head)
  for (const text of [left, right]) {
    const cell = document.createElement('td')
    const content = document.createElement(left === right ? 'span' : 'mark')
    content.dir = 'auto'
    content.textContent = text
    cell.append(content)
    line.append(cell)
  }
  return line
}
