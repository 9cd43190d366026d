// A library's API that has been in use for years. The API has its own body parser, routes and error format. Only the
// marked line was added.

const express = require('express')
const { crudRouter } = require('sequelize-crud-router')

/** Creates the application for its models. */
function library({ Author, Book }) {
  const app = express()
  app.use(express.json({ limit: '100kb' }))

  app.get('/health', (_req, res) => {
    res.json({ ok: true })
  })

  app.get('/authors', async (_req, res, next) => {
    try {
      const authors = await Author.findAll({ include: 'books', order: [['name', 'ASC']] })
      res.json(authors.map(({ name, books }) => ({ name, titles: books.map(({ title }) => title) })))
    } catch (error) {
      next(error)
    }
  })

  app.post('/loans', async (req, res, next) => {
    try {
      const book = await Book.findByPk(req.body.bookId ?? null)
      if (book === null) throw Object.assign(new Error('No such book.'), { status: 404 })
      if (book.copies === 0) throw Object.assign(new Error('All copies are lent.'), { status: 409 })
      await book.decrement('copies')
      res.status(201).json({ lent: book.title })
    } catch (error) {
      next(error)
    }
  })

  app.use(crudRouter(Book, { relations: { author: { fields: ['name'] } } })) // <- the line

  app.use((_req, res) => {
    res.status(404).json({ error: 'There is nothing here.' })
  })

  // Express recognizes an error handler by its four parameters.
  app.use((error, _req, res, _next) => {
    res.status(error.status ?? 500).json({ error: error.status ? error.message : 'Something broke.' })
  })

  return app
}

module.exports = { library }
