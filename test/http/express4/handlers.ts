import '../../support/express4.js'

await import('../handlers.js')
