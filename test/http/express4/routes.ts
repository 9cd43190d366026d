import '../../support/express4.js'

await import('../mounting/routes.js')
