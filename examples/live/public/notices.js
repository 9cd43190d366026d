// Messages to the user. A message about a change disappears by itself. A message about an error stays until it is
// dismissed.

const MOMENT = 300
const FEW = 2

const news = document.querySelector('#news')
let waiting = []

/**
 * Announces a change, together with other changes at about the same time. Screen readers read the message when they are
 * idle.
 */
export function tell(text) {
  waiting.push(text)
  if (waiting.length > 1) return
  setTimeout(() => {
    news.textContent = waiting.length > FEW ? `${waiting.length} orders changed.` : waiting.join(' ')
    waiting = []
  }, MOMENT)
}

const template = document.querySelector('#notice-template')

/**
 * Shows an error until it is dismissed or, if `retry` is given, tried again. Returns a function that removes the
 * message.
 */
export function complain(container, text, retry) {
  const notice = template.content.firstElementChild.cloneNode(true)
  const before = document.activeElement
  const take = () => {
    const hadFocus = notice.contains(document.activeElement)
    notice.remove()
    if (hadFocus && before.isConnected) before.focus()
  }
  notice.querySelector('.dismiss').addEventListener('click', take)
  const again = notice.querySelector('.retry')
  again.hidden = retry === undefined
  again.addEventListener('click', () => {
    take()
    retry()
  })
  container.append(notice)
  notice.querySelector('p').textContent = text
  return take
}
