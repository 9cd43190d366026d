import '../../support/express4.js'

await import('../unchanged.js')
