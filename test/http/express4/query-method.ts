import '../../support/express4.js'

await import('../query-method.js')
