// The library's own models, unchanged: CommonJS, `define`, and columns in snake case.

const { DataTypes, Sequelize } = require('sequelize')
const { nodeSqlite } = require('sequelize-crud-router/node-sqlite')

/** Driver over Node's own SQLite, which needs no compilation. Before Node.js 22.13, Sequelize uses sqlite3. */
const hasSqlite = process.getBuiltinModule?.('node:sqlite') !== undefined
const driver = hasSqlite ? { dialectModule: nodeSqlite } : {}

/** Connects to a SQLite file. */
function connect(storage) {
  const sequelize = new Sequelize({ dialect: 'sqlite', ...driver, storage, logging: false })

  const Author = sequelize.define(
    'Author',
    { name: { type: DataTypes.STRING(80), allowNull: false } },
    { tableName: 'lib_authors', underscored: true, timestamps: false },
  )

  const Book = sequelize.define(
    'Book',
    {
      title: { type: DataTypes.STRING(200), allowNull: false, validate: { len: [1, 200] } },
      isbn: { type: DataTypes.STRING(13), unique: true, validate: { is: /^\d{13}$/ } },
      publishedOn: DataTypes.DATEONLY,
      copies: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1, validate: { min: 0 } },
    },
    { tableName: 'lib_books', underscored: true, timestamps: false },
  )

  Book.belongsTo(Author, { as: 'author', foreignKey: 'authorId' })
  Author.hasMany(Book, { as: 'books', foreignKey: 'authorId' })
  return { sequelize, Author, Book }
}

async function seed({ sequelize, Author, Book }) {
  // In this mode, readers and writers of the file do not wait for each other.
  await sequelize.query('PRAGMA journal_mode = WAL')
  await sequelize.sync({ force: true })
  await Author.bulkCreate([{ name: 'Stanislaw Lem' }, { name: 'Olga Tokarczuk' }])
  await Book.bulkCreate([
    { title: 'Solaris', isbn: '9780156027601', publishedOn: '1961-06-01', copies: 2, authorId: 1 },
    { title: 'Flights', isbn: '9780525534204', publishedOn: '2007-10-01', copies: 1, authorId: 2 },
  ])
}

module.exports = { connect, seed }
