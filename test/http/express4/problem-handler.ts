import '../../support/express4.js'

await import('../replies/problem-handler.js')
