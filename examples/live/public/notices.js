// What is told: in passing, what changed; until it is dismissed, what failed.

const MOMENT = 300
const FEW = 2

const news = document.querySelector('#news')
let waiting = []

/** Tells of a change, along with the others of the moment. A screen reader says it when it has nothing else to say. */
export function tell(text) {
  waiting.push(text)
  if (waiting.length > 1) return
  setTimeout(() => {
    news.textContent = waiting.length > FEW ? `${waiting.length} orders changed.` : waiting.join(' ')
    waiting = []
  }, MOMENT)
}

const template = document.querySelector('#notice-template')

/** Tells of a failure, until it is dismissed or, where that makes sense, tried again. Returns what takes it away. */
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
