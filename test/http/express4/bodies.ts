import '../../support/express4.js'

await import('../writes/bodies.js')
