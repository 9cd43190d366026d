import '../../support/express4.js'

await import('../replies/replies.js')
