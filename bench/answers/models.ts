import type { Options } from 'sequelize'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'

/** Tables for potentially large responses: clubs with a long text, people, tags and awards. */
export interface Large {
  readonly sequelize: Sequelize
  readonly Club: ModelStatic<Model>
  readonly Person: ModelStatic<Model>
  readonly Tag: ModelStatic<Model>
  readonly Award: ModelStatic<Model>
}

export function defineLarge(options: Options): Large {
  const sequelize = new Sequelize({ ...options, logging: false })
  const plain = { timestamps: false }
  const text = sequelize.getDialect().startsWith('m') ? DataTypes.TEXT('long') : DataTypes.TEXT
  const Club = sequelize.define('Club', { name: DataTypes.STRING, about: text }, plain)
  const Person = sequelize.define('Person', { name: DataTypes.STRING, bio: text }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING, text }, plain)
  const Award = sequelize.define('Award', { name: DataTypes.STRING, year: DataTypes.INTEGER }, plain)
  Person.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
  Club.hasMany(Person, { as: 'people', foreignKey: 'clubId' })
  Person.belongsToMany(Tag, { as: 'tags', through: 'PersonTags' })
  Tag.belongsToMany(Person, { as: 'people', through: 'PersonTags' })
  Person.hasMany(Award, { as: 'awards', foreignKey: 'personId' })
  Award.belongsTo(Person, { as: 'person', foreignKey: 'personId' })
  return { sequelize, Club, Person, Tag, Award }
}

/**
 * Inserts 1,000 people of one club whose text has 1 MB. Each person has 100 tags of 20 kB and 100 awards. 100 people
 * also have a text of 1 MB.
 */
export async function fillLarge({ sequelize, Club, Person, Tag, Award }: Large): Promise<void> {
  await sequelize.sync({ force: true })
  const people = Array.from({ length: 1000 }, (_, index) => index + 1)
  await Club.create({ name: 'one', about: 'a'.repeat(1_000_000) })
  const bio = (id: number): string => (id > 900 ? 'b'.repeat(1_000_000) : 'short')
  for (let from = 0; from < people.length; from += 10) {
    const some = people.slice(from, from + 10)
    await Person.bulkCreate(some.map((id) => ({ id, name: `person ${id}`, clubId: 1, bio: bio(id) })))
  }
  await Tag.bulkCreate(people.slice(0, 100).map((id) => ({ id, name: `tag ${id}`, text: 't'.repeat(20_000) })))
  const links = sequelize.model('PersonTags')
  for (let from = 0; from < people.length; from += 20) {
    const some = people.slice(from, from + 20)
    await links.bulkCreate(some.flatMap((PersonId) => people.slice(0, 100).map((TagId) => ({ PersonId, TagId }))))
    await Award.bulkCreate(
      some.flatMap((personId) => people.slice(0, 100).map((n) => ({ personId, name: `award ${n}`, year: 1900 + n }))),
    )
  }
}

type Parameters = Readonly<Record<string, string>>

/** Requests whose full responses would have a gigabyte or 100,000 records. */
export const REQUESTS: readonly (readonly [name: string, path: string, parameters: Parameters])[] = [
  ['1,000 people with the 1 MB text of their one club', 'people', { select: 'name,club(about)', pageSize: '1000' }],
  ['1,000 people with 100 tags of 20 kB each', 'people', { select: 'name,tags(text)', pageSize: '1000' }],
  ['1,000 people, a hundred of them with a text of 1 MB', 'people', { pageSize: '1000', sort: '-id' }],
  ['1,000 people with 100 awards each', 'people', { select: 'id,awards(id)', pageSize: '1000' }],
  ['1,000 people with 100 awards and all their fields', 'people', { select: 'id,awards', pageSize: '1000' }],
  ['one club with 100 people and 100 awards of each', 'clubs/1', { select: 'people(name,awards(name))' }],
  ['7 people with 100 tags of 20 kB each', 'people', { select: 'name,tags(text)', pageSize: '7' }],
  ['20 people with their awards', 'people', { select: 'name,awards(name)', pageSize: '20' }],
  ['groups by a text of 1 MB', 'people', { group: 'bio,name', aggregate: 'count', sort: '-name', pageSize: '1000' }],
  ['the 1,000 people of the club, with their texts', 'clubs/1/people', { pageSize: '1000', sort: '-id' }],
]
