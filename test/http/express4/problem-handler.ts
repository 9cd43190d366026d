import '../../support/express4.js'

await import('../problem-handler.js')
