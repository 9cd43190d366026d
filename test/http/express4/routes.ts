import '../../support/express4.js'

await import('../routes.js')
