import '../../support/express4.js'

await import('../bodies.js')
