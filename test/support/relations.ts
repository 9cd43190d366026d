import { DataTypes, type Model, type ModelStatic, type Options } from 'sequelize'
import { crudRouter } from '../../lib/index.js'
import type { CrudOptions } from '../../types/options.js'
import { openStage, type Stage } from './stage.js'

type Any = ModelStatic<Model>

/** Models with every kind of association. */
export interface Relations {
  readonly Country: Any
  readonly Club: Any
  readonly Person: Any
  readonly Skill: Any
  readonly PersonSkill: Any
  readonly Passport: Any
  readonly Note: Any
  readonly Secret: Any
}

/**
 * Countries 1 Poland, 2 Spain, 3 Iceland (no clubs). Clubs 1 Lech (Poland, founded 1922), 2 Real (Spain, 1902),
 * 3 Free (no country, 2000, nobody).
 *
 * | id | person | level | club | mentor | born | lives | skills        | passport | notes, stickers        |
 * |----|--------|------:|------|--------|------|-------|---------------|----------|------------------------|
 * | 1  | Ada    | 10    | Lech | -      | 1    | 2     | Run 1, Jump 2 | AA1      | note "tall"            |
 * | 2  | Ben    | 60    | Lech | Ada    | 1    | 1     | Run           | BB2      | -                      |
 * | 3  | Cid    | 80    | Real | Ben    | 2    | -     | -             | -        | sticker "tall"         |
 * | 4  | Dan    | null  | Real | Cid    | -    | 1     | Jump          | null     | note null, note "fast" |
 * | 5  | Eve    | 30    | -    | -      | 3    | 3     | Run, Jump, Swim | -      | note "fast", sticker "x" |
 */
export async function serveRelations(options: CrudOptions = {}, database: Options = {}): Promise<Stage<Relations>> {
  const stage = await openStage<Relations>(
    ({ sequelize }, app) => {
      const plain = { timestamps: false }
      const Country = sequelize.define('Country', { name: DataTypes.STRING, code: DataTypes.STRING(2) }, plain)
      const Club = sequelize.define('Club', { name: DataTypes.STRING, founded: DataTypes.INTEGER }, plain)
      const Person = sequelize.define(
        'Person',
        { name: { type: DataTypes.STRING, allowNull: false }, level: DataTypes.INTEGER, joined: DataTypes.DATE(3) },
        { ...plain, name: { singular: 'person', plural: 'people' } },
      )
      const Skill = sequelize.define('Skill', { name: DataTypes.STRING }, plain)
      const PersonSkill = sequelize.define('PersonSkill', { years: DataTypes.INTEGER }, plain)
      const Passport = sequelize.define('Passport', { number: DataTypes.STRING, kind: DataTypes.STRING }, plain)
      const Note = sequelize.define(
        'Note',
        {
          text: DataTypes.STRING,
          subject: DataTypes.STRING,
          subjectId: DataTypes.INTEGER,
          isSticker: DataTypes.BOOLEAN,
        },
        plain,
      )
      const Secret = sequelize.define('Secret', { word: DataTypes.STRING }, plain)
      Country.hasMany(Club, { as: 'clubs', foreignKey: 'countryId' })
      Club.belongsTo(Country, { as: 'country', foreignKey: 'countryId' })
      Club.hasMany(Person, { as: 'people', foreignKey: 'clubId' })
      Person.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
      Person.belongsTo(Person, { as: 'mentor', foreignKey: 'mentorId' })
      Person.hasMany(Person, { as: 'pupils', foreignKey: 'mentorId' })
      Person.belongsTo(Country, { as: 'born', foreignKey: 'bornId' })
      Person.belongsTo(Country, { as: 'lives', foreignKey: 'livesId' })
      Person.belongsToMany(Skill, { as: 'skills', through: PersonSkill, foreignKey: 'personId', otherKey: 'skillId' })
      Skill.belongsToMany(Person, { as: 'people', through: PersonSkill, foreignKey: 'skillId', otherKey: 'personId' })
      // A person may have a second row in the table of the hasOne. The association's scope selects one row.
      Person.hasOne(Passport, { as: 'passport', foreignKey: 'personId', scope: { kind: 'passport' } })
      Passport.belongsTo(Person, { as: 'person', foreignKey: 'personId' })
      const scope = { subject: 'person' }
      Person.hasMany(Note, {
        as: 'notes',
        foreignKey: 'subjectId',
        constraints: false,
        scope: { ...scope, isSticker: false },
      })
      Person.hasMany(Note, {
        as: 'stickers',
        foreignKey: 'subjectId',
        constraints: false,
        scope: { ...scope, isSticker: true },
      })
      Person.hasMany(Secret, { as: 'secrets', foreignKey: 'personId' })
      Secret.belongsTo(Person, { as: 'person', foreignKey: 'personId' })
      const { limits = {} } = options
      for (const model of [Country, Club, Skill, Passport, Note]) app.use(crudRouter(model, { limits }))
      app.use(crudRouter(Person, options))
      return { Country, Club, Person, Skill, PersonSkill, Passport, Note, Secret }
    },
    { sequelize: database },
  )
  await fill(stage)
  return stage
}

async function fill({ Country, Club, Person, Skill, PersonSkill, Passport, Note, Secret }: Relations): Promise<void> {
  await Country.bulkCreate([
    { name: 'Poland', code: 'PL' },
    { name: 'Spain', code: 'ES' },
    { name: 'Iceland', code: 'IS' },
  ])
  await Club.bulkCreate([
    { name: 'Lech', founded: 1922, countryId: 1 },
    { name: 'Real', founded: 1902, countryId: 2 },
    { name: 'Free', founded: 2000 },
  ])
  const people: readonly object[] = [
    { name: 'Ada', level: 10, clubId: 1, bornId: 1, livesId: 2, joined: '2024-01-01T00:00:00Z' },
    { name: 'Ben', level: 60, clubId: 1, mentorId: 1, bornId: 1, livesId: 1, joined: '2024-01-01T23:59:59.999Z' },
    { name: 'Cid', level: 80, clubId: 2, mentorId: 2, bornId: 2, joined: '2024-01-02T00:00:00Z' },
    { name: 'Dan', clubId: 2, mentorId: 3, livesId: 1 },
    { name: 'Eve', level: 30, bornId: 3, livesId: 3, joined: '2023-12-31T23:59:59.999Z' },
  ]
  for (const person of people) await Person.create({ ...person })
  await Skill.bulkCreate([{ name: 'Run' }, { name: 'Jump' }, { name: 'Swim' }, { name: 'Fly' }])
  const skills = [
    [1, 1],
    [1, 2],
    [2, 1],
    [4, 2],
    [5, 1],
    [5, 2],
    [5, 3],
  ]
  await PersonSkill.bulkCreate(skills.map(([personId, skillId]) => ({ personId, skillId, years: 1 })))
  await Passport.bulkCreate([
    { number: 'AA1', kind: 'passport', personId: 1 },
    { number: 'BB2', kind: 'passport', personId: 2 },
    { number: null, kind: 'passport', personId: 4 },
    { number: 'ZZ9', kind: 'licence', personId: 3 },
    { number: 'ZZ8', kind: 'licence', personId: 1 },
  ])
  await Note.bulkCreate([
    { text: 'tall', subject: 'person', isSticker: false, subjectId: 1 },
    { text: 'tall', subject: 'person', isSticker: true, subjectId: 3 },
    { text: null, subject: 'person', isSticker: false, subjectId: 4 },
    { text: 'fast', subject: 'person', isSticker: false, subjectId: 4 },
    { text: 'fast', subject: 'person', isSticker: false, subjectId: 5 },
    { text: 'x', subject: 'person', isSticker: true, subjectId: 5 },
    { text: 'tall', subject: 'club', isSticker: false, subjectId: 2 },
  ])
  await Secret.bulkCreate([{ word: 'open', personId: 1 }])
}
