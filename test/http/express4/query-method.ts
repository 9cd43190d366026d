import '../../support/express4.js'

await import('../lists/query-method.js')
