import {
  type CreationOptional,
  DataTypes,
  type ForeignKey,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  Sequelize,
} from 'sequelize'

export const ROLES = ['requester', 'member', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** Public data of a person. Private data are in the person's account. */
export class Person extends Model<InferAttributes<Person>, InferCreationAttributes<Person>> {
  declare id: CreationOptional<number>
  declare name: string
}

export class Account extends Model<InferAttributes<Account>, InferCreationAttributes<Account>> {
  declare personId: ForeignKey<number>
  declare username: string
  /** Password hash that `hashPassword` has returned. */
  declare password: string
  declare role: Role
  declare signature: CreationOptional<string | null>
}

export class Team extends Model<InferAttributes<Team>, InferCreationAttributes<Team>> {
  declare id: CreationOptional<number>
  declare name: string
}

/** Connects people to teams. The two foreign keys are the primary key. */
export class Membership extends Model<InferAttributes<Membership>, InferCreationAttributes<Membership>> {
  declare teamId: ForeignKey<number>
  declare personId: ForeignKey<number>
}

export class Ticket extends Model<InferAttributes<Ticket>, InferCreationAttributes<Ticket>> {
  declare id: CreationOptional<number>
  declare teamId: ForeignKey<number>
  declare requesterId: ForeignKey<number>
  declare subject: string
  declare status: CreationOptional<'open' | 'closed'>
  declare tags: CreationOptional<readonly string[]>
  declare openedAt: CreationOptional<Date>
  declare closedAt: CreationOptional<Date | null>
}

export class Message extends Model<InferAttributes<Message>, InferCreationAttributes<Message>> {
  declare id: CreationOptional<number>
  declare ticketId: ForeignKey<number>
  declare authorId: ForeignKey<number>
  declare text: string
  declare sentAt: CreationOptional<Date>
}

export class Attachment extends Model<InferAttributes<Attachment>, InferCreationAttributes<Attachment>> {
  declare id: CreationOptional<number>
  declare ticketId: ForeignKey<number>
  declare name: string
  declare type: string
  declare size: number
  declare content: Buffer
}

/** Connects the models to a SQLite file. The default driver is sqlite3. */
export function connect(storage: string, driver?: object): Sequelize {
  const dialectModule = driver === undefined ? {} : { dialectModule: driver }
  return define(new Sequelize({ dialect: 'sqlite', storage, logging: false, ...dialectModule }))
}

/** Defines the models. The models are plain Sequelize models for any database. */
export function define(sequelize: Sequelize): Sequelize {
  const id = { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true }
  // Each attribute needs a definition of its own, because Sequelize writes the attribute's name into it.
  const now = () => ({ type: DataTypes.DATE, allowNull: false, defaultValue: DataTypes.NOW })
  const key = () => ({ type: DataTypes.INTEGER, allowNull: false })
  const text = (length: number) => ({ type: DataTypes.STRING(length), allowNull: false })
  const options = { sequelize, timestamps: false }

  Person.init({ id, name: text(50) }, { ...options, modelName: 'Person' })
  Account.init(
    {
      personId: { ...key(), primaryKey: true },
      username: { ...text(50), unique: true },
      password: text(255),
      role: { type: DataTypes.ENUM(...ROLES), allowNull: false },
      signature: DataTypes.STRING(200),
    },
    { ...options, modelName: 'Account' },
  )
  Team.init({ id, name: { ...text(50), unique: true } }, { ...options, modelName: 'Team' })
  Membership.init(
    { teamId: { ...key(), primaryKey: true }, personId: { ...key(), primaryKey: true } },
    { ...options, modelName: 'Membership', indexes: [{ fields: ['personId'] }] },
  )
  Ticket.init(
    {
      id,
      teamId: key(),
      requesterId: key(),
      subject: text(200),
      status: { type: DataTypes.ENUM('open', 'closed'), allowNull: false, defaultValue: 'open' },
      tags: { type: DataTypes.JSON, allowNull: false, defaultValue: [] },
      openedAt: now(),
      closedAt: DataTypes.DATE,
    },
    { ...options, modelName: 'Ticket', indexes: [{ fields: ['teamId'] }, { fields: ['requesterId'] }] },
  )
  Message.init(
    { id, ticketId: key(), authorId: key(), text: { type: DataTypes.TEXT, allowNull: false }, sentAt: now() },
    { ...options, modelName: 'Message', indexes: [{ fields: ['ticketId'] }] },
  )
  Attachment.init(
    {
      id,
      ticketId: key(),
      name: text(100),
      type: text(100),
      size: key(),
      content: { type: DataTypes.BLOB('medium'), allowNull: false },
    },
    { ...options, modelName: 'Attachment', indexes: [{ fields: ['ticketId'] }] },
  )

  Account.belongsTo(Person, { as: 'person', foreignKey: 'personId' })
  Team.belongsToMany(Person, { as: 'members', through: Membership, foreignKey: 'teamId', otherKey: 'personId' })
  Person.belongsToMany(Team, { as: 'teams', through: Membership, foreignKey: 'personId', otherKey: 'teamId' })
  Ticket.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Ticket.belongsTo(Person, { as: 'requester', foreignKey: 'requesterId' })
  Ticket.hasMany(Message, { as: 'messages', foreignKey: 'ticketId', onDelete: 'CASCADE' })
  Message.belongsTo(Ticket, { as: 'ticket', foreignKey: 'ticketId' })
  Ticket.hasMany(Attachment, { as: 'attachments', foreignKey: 'ticketId', onDelete: 'CASCADE' })
  Attachment.belongsTo(Ticket, { as: 'ticket', foreignKey: 'ticketId' })
  Message.belongsTo(Person, { as: 'author', foreignKey: 'authorId' })
  return sequelize
}
