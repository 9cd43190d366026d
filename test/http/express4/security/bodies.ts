import '../../../support/express4.js'

await import('../../security/bodies.js')
