// Shows whether the board is connected. A short interruption changes only the badge. A long interruption is shown
// prominently.

const SHORT = 1500
const TIME = new Intl.DateTimeFormat(document.documentElement.lang, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

const badge = document.querySelector('#connection')
const outage = document.querySelector('#outage')

let timer = null

/** @param state `live` or `lost` */
export function showConnection(board, state, text) {
  badge.dataset.state = state
  badge.textContent = text
  if (state === 'live') {
    clearTimeout(timer)
    timer = null
    outage.textContent = ''
    board.setStale(false)
    return
  }
  const since = TIME.format(new Date())
  timer ??= setTimeout(() => {
    outage.textContent = `The server has not answered since ${since}. The board shows the orders as they were then, and catches up by itself.`
    board.setStale(true)
  }, SHORT)
}
