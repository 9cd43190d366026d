// `npm run example existing-api` starts a CommonJS application with its own routes, to which one resource was added.

const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { library } = require('./app.cjs')
const { connect, seed } = require('./models/index.cjs')

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'library-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

  const models = connect(join(folder, 'library.sqlite'))
  await seed(models)
  const app = library(models)

  const server = app.listen(Number(process.env.PORT || 3000))
  server.once('error', ({ code, message }) => {
    console.error(code === 'EADDRINUSE' ? 'The port is in use. Choose another one: PORT=3001' : message)
    process.exit(1)
  })
  server.once('listening', () => {
    const { port } = server.address()
    console.log(`The library is at http://localhost:${port}. It always had:\n`)
    console.log(`  curl 'localhost:${port}/health'`)
    console.log(`  curl 'localhost:${port}/authors'`)
    console.log(`  curl -X POST 'localhost:${port}/loans' -H 'Content-Type: application/json' -d '{"bookId":1}'`)
    console.log('\nOne line gave it:\n')
    console.log(`  curl -g 'localhost:${port}/api/books?filter=Author.Name=*Lem,PublishedOn<1970-01-01'`)
    console.log(`  curl -X PATCH 'localhost:${port}/api/books/2' -H 'Content-Type: application/json' -d '{"copies":3}'`)
    console.log(`  curl -X POST 'localhost:${port}/api/books' -H 'Content-Type: application/json' -d '{"isbn":"no"}'`)
    console.log('\nCtrl-C ends it.')
  })

  // If npm has started the program, Ctrl-C sends the signal twice: from the terminal and from npm.
  let isClosing = false
  function close() {
    if (isClosing) return
    isClosing = true
    server.close(() => models.sequelize.close())
    server.closeIdleConnections()
  }
  process.on('SIGINT', close)
  process.on('SIGTERM', close)
}

main()
