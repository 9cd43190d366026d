// Runs in the page before the page's own scripts. `audit(selector)` lists accessibility problems of the visible content
// in an element. The function checks the WCAG 2.2 AA criteria that a program can check.

globalThis.audit = (selector) => {
  const root = document.querySelector(selector)
  const shown = [root, ...root.querySelectorAll('*')].filter((element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }),
  )
  return [...shown.flatMap(contrastOf), ...shown.flatMap(nameOf), ...shown.flatMap(sizeOf), ...idsOf()]

  function describe(element) {
    return `${element.localName}#${element.id}.${element.className} "${element.textContent.trim().slice(0, 30)}"`
  }

  function rgba(text) {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number)
    return [r, g, b, a]
  }

  function over([r, g, b, a], below) {
    return [r, g, b].map((value, index) => value * a + below[index] * (1 - a))
  }

  /** Background colour behind an element's content. */
  function ground(element) {
    if (element === null) return [255, 255, 255]
    return over(rgba(getComputedStyle(element).backgroundColor), ground(element.parentElement))
  }

  function luminance(colour) {
    const [r, g, b] = colour.map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }

  function ratio(one, other) {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a)
    return (high + 0.05) / (low + 0.05)
  }

  function contrastOf(element) {
    const faults = []
    const style = getComputedStyle(element)
    const own = ground(element)
    const isText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '')
    if (isText || element.matches('input, select')) {
      const found = ratio(over(rgba(style.color), own), own)
      if (found < 4.5) faults.push(`text contrast ${found.toFixed(2)}: ${describe(element)}`)
    }
    if (element.matches('svg')) {
      const found = ratio(over(rgba(style.color), own), own)
      if (found < 3) faults.push(`icon contrast ${found.toFixed(2)}: ${describe(element.parentElement)}`)
    }
    // A control without a frame is recognized by its text or icon. Inputs always need a frame.
    const isFramed = rgba(style.borderTopColor)[3] > 0 || element.matches('input')
    if (element.matches('input, select, button') && isFramed) {
      const around = ground(element.parentElement)
      const edge = over(rgba(style.borderTopColor), own)
      const found = Math.max(ratio(edge, around), ratio(own, around))
      if (found < 3) faults.push(`edge contrast ${found.toFixed(2)}: ${describe(element)}`)
    }
    return faults
  }

  function nameOf(element) {
    if (!element.matches('input, select, button, a, dialog, section, article, form, nav, table')) return []
    const labelled = (element.getAttribute('aria-labelledby') ?? '').split(' ').filter(Boolean)
    const names = [
      ...labelled.map((id) => document.getElementById(id)?.textContent),
      element.ariaLabel,
      ...(element.labels ?? []).values().map((label) => label.textContent),
      ...(element.matches('button, a, table') ? [element.textContent] : []),
      ...(element.matches('dialog form') ? [element.querySelector('h2').textContent] : []),
    ]
    return names.some((name) => name?.trim()) ? [] : [`no name: ${describe(element)}`]
  }

  function sizeOf(element) {
    if (!element.matches('input, select, button, a')) return []
    const { width, height, left, right } = element.getBoundingClientRect()
    const faults = []
    if (width < 24 || height < 24) faults.push(`too small, ${width} x ${height}: ${describe(element)}`)
    if (left < 0 || right > innerWidth) faults.push(`beyond the edge: ${describe(element)}`)
    if (element.matches('button, a') && element.scrollWidth > element.clientWidth) {
      faults.push(`cut off: ${describe(element)}`)
    }
    return faults
  }

  function idsOf() {
    const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
    return ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `not the only #${id}`)
  }
}
