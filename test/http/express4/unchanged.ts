import '../../support/express4.js'

await import('../replies/unchanged.js')
