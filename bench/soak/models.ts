import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'

/** Sequelize's name of the application's driver. */
export type DialectName = 'mysql' | 'mariadb' | 'postgres'

/** Address and options of the database. */
export interface Target {
  readonly dialect: DialectName
  readonly port: number
  readonly username: string
  readonly database: string
}

export function open(target: Target, max = 1): Sequelize {
  return new Sequelize({ ...target, host: '127.0.0.1', password: '', logging: false, pool: { max } })
}

export interface Models {
  readonly Account: ModelStatic<Model>
  readonly Item: ModelStatic<Model>
  readonly Task: ModelStatic<Model>
  readonly Tag: ModelStatic<Model>
}

/** Name of the join model between accounts and tags. */
export const JOIN_MODEL = 'AccountTags'

/**
 * Defines the models. Every record has an owner and a code. One connection writes the records of an owner. The code
 * identifies a record of its owner.
 */
export function define(sequelize: Sequelize): Models {
  const own = {
    owner: { type: DataTypes.INTEGER, allowNull: false },
    code: { type: DataTypes.STRING(40), allowNull: false },
  }
  const options = {
    timestamps: false,
    indexes: [
      { name: 'code', unique: true, fields: ['code'] },
      { name: 'owner', fields: ['owner'] },
    ],
  }
  // In PostgreSQL, an index name must be unique across all tables.
  const indexed = (table: string): typeof options => ({
    ...options,
    indexes: options.indexes.map((index) => ({ ...index, name: `${table}_${index.name}` })),
  })
  // A PATCH with equal values changes only the version. The version is an attribute of the model, so that lists show
  // such a change.
  const rowVersion = { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 }
  const Account = sequelize.define(
    'Account',
    { ...own, name: DataTypes.STRING(50), rank: DataTypes.INTEGER, budget: DataTypes.DECIMAL(12, 2) },
    indexed('accounts'),
  )
  const Item = sequelize.define(
    'Item',
    {
      ...own,
      name: DataTypes.STRING(50),
      level: { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } },
      note: DataTypes.STRING(100),
      meta: DataTypes.JSON,
      accountId: { type: DataTypes.INTEGER, allowNull: false },
      rowVersion,
    },
    indexed('items'),
  )
  const Task = sequelize.define(
    'Task',
    {
      ...own,
      title: DataTypes.STRING(50),
      done: DataTypes.BOOLEAN,
      createdBy: DataTypes.STRING(50),
      updatedBy: DataTypes.STRING(50),
      rowVersion,
    },
    indexed('tasks'),
  )
  const Tag = sequelize.define('Tag', { ...own, label: DataTypes.STRING(20) }, indexed('tags'))
  Account.hasMany(Item, { as: 'items', foreignKey: 'accountId', onDelete: 'RESTRICT' })
  Item.belongsTo(Account, { as: 'account', foreignKey: 'accountId', onDelete: 'RESTRICT' })
  Account.belongsToMany(Tag, {
    as: 'tags',
    through: JOIN_MODEL,
    foreignKey: 'accountId',
    otherKey: 'tagId',
    timestamps: false,
  })
  return { Account, Item, Task, Tag }
}
