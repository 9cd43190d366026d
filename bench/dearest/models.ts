import { DataTypes, type Model, type ModelStatic, type Options, Sequelize } from 'sequelize'

const plain = { timestamps: false }

/**
 * Defines countries, clubs and people. People have awards and skills, and other people as pupils. Every foreign key has
 * an index.
 */
export function defineCrowd(options: Options) {
  const sequelize = new Sequelize({ ...options, logging: false })
  const text = DataTypes.STRING(100)
  const Country = sequelize.define('Country', { name: text }, { ...plain, tableName: 'countries' })
  const Club = sequelize.define(
    'Club',
    { name: text, countryId: DataTypes.INTEGER },
    { ...plain, tableName: 'clubs', indexes: [{ fields: ['countryId'] }] },
  )
  const Person = sequelize.define(
    'Person',
    {
      name: text,
      bio: text,
      city: text,
      street: text,
      points: DataTypes.INTEGER,
      clubId: DataTypes.INTEGER,
      mentorId: DataTypes.INTEGER,
    },
    { ...plain, tableName: 'people', indexes: [{ fields: ['clubId'] }, { fields: ['mentorId'] }] },
  )
  const Award = sequelize.define(
    'Award',
    { name: text, points: DataTypes.INTEGER, personId: DataTypes.INTEGER },
    { ...plain, tableName: 'awards', indexes: [{ fields: ['personId'] }] },
  )
  const unbound = { constraints: false }
  Country.hasMany(Club, { ...unbound, as: 'clubs', foreignKey: 'countryId' })
  Club.belongsTo(Country, { ...unbound, as: 'country', foreignKey: 'countryId' })
  Club.hasMany(Person, { ...unbound, as: 'people', foreignKey: 'clubId' })
  Person.belongsTo(Club, { ...unbound, as: 'club', foreignKey: 'clubId' })
  Person.hasMany(Person, { ...unbound, as: 'pupils', foreignKey: 'mentorId' })
  Person.hasMany(Award, { ...unbound, as: 'awards', foreignKey: 'personId' })
  return { sequelize, Country, Club, Person, Award }
}

export type Crowd = ReturnType<typeof defineCrowd>

/**
 * Fills the tables by SQL, because they have millions of rows. A table of numbers is doubled until it is large enough.
 */
export async function fillCrowd({ sequelize, Country, Club, Person, Award }: Crowd, rows: number): Promise<void> {
  const clubs = Math.max(1, Math.round(rows / 50))
  const countries = Math.max(1, Math.round(clubs / 100))
  const quoted = (name: string): string => sequelize.getQueryInterface().quoteIdentifier(name)
  const insert = (
    model: ModelStatic<Model>,
    count: number,
    values: Readonly<Record<string, string>>,
  ): Promise<unknown> =>
    sequelize.query(
      `INSERT INTO ${quoted(String(model.getTableName()))} (id, ${Object.keys(values).map(quoted).join(', ')})
       SELECT n, ${Object.values(values).join(', ')} FROM numbers WHERE n <= ${count}`,
    )
  await sequelize.sync()
  await sequelize.query('CREATE TABLE numbers (n INTEGER PRIMARY KEY)')
  await sequelize.query('INSERT INTO numbers VALUES (1)')
  for (let count = 1; count < rows; count *= 2) {
    await sequelize.query(`INSERT INTO numbers SELECT n + ${count} FROM numbers WHERE n + ${count} <= ${rows}`)
  }
  await insert(Country, countries, { name: `CONCAT('Country ', n)` })
  await insert(Club, clubs, { name: `CONCAT('Club ', n)`, countryId: `1 + n % ${countries}` })
  await insert(Person, rows, {
    name: `CONCAT('Person ', n * 7919 % 1000003)`,
    bio: `CONCAT('Was born in ', 1900 + n % 100, ', and has won ', n * 7 % 1009, ' of the matches since')`,
    city: `CONCAT('City ', n * 31 % 5003)`,
    street: `CONCAT('Street ', n * 17 % 9001)`,
    points: `n * 37 % 100003`,
    clubId: `1 + n % ${clubs}`,
    mentorId: `1 + n * 13 % ${rows}`,
  })
  await insert(Award, rows, {
    name: `CONCAT('Award ', n % 1000)`,
    points: `n * 41 % 5000`,
    personId: `1 + n * 3 % ${rows}`,
  })
  await sequelize.query('DROP TABLE numbers')
  await analyze(sequelize)
}

/** Collects table statistics. Without statistics, a database guesses which index to use. */
async function analyze(sequelize: Sequelize): Promise<void> {
  const isMysql = sequelize.getDialect() === 'mysql'
  await sequelize.query(isMysql ? 'ANALYZE TABLE countries, clubs, people, awards' : 'ANALYZE')
}
