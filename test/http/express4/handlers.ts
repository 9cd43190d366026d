import '../../support/express4.js'

await import('../mounting/handlers.js')
