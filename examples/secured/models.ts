import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  Sequelize,
} from 'sequelize'

export const ROLES = ['employee', 'manager', 'admin'] as const

export type Role = (typeof ROLES)[number]

/** Who may log in. It has no resource: nothing of this table ever leaves the server. */
export class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {
  declare id: CreationOptional<number>
  declare username: string
  /** What `hashPassword` made of it. */
  declare password: string
  declare role: Role
  declare tenant: string
}

export class Employee extends Model<InferAttributes<Employee>, InferCreationAttributes<Employee>> {
  declare id: CreationOptional<number>
  declare tenant: string
  declare name: string
  declare title: CreationOptional<string | null>
  /** The account of this employee, if there is one. */
  declare username: CreationOptional<string | null>
  declare salary: CreationOptional<number | null>
  declare updatedBy: CreationOptional<string | null>
  declare deletedAt: CreationOptional<Date | null>
}

export function findUser(username: string): Promise<User | null> {
  return User.findOne({ where: { username } })
}

/** Connects the models to a SQLite file, by sqlite3 or another driver. */
export function connect(storage: string, driver?: object): Sequelize {
  const dialectModule = driver === undefined ? {} : { dialectModule: driver }
  const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false, ...dialectModule })

  User.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      username: { type: DataTypes.STRING(50), allowNull: false, unique: true },
      password: { type: DataTypes.STRING, allowNull: false },
      role: { type: DataTypes.ENUM(...ROLES), allowNull: false },
      tenant: { type: DataTypes.STRING(20), allowNull: false },
    },
    { sequelize, modelName: 'User', timestamps: false },
  )

  // Of what the behaviours keep, the resource shows what is declared here. They add the rest to the model.
  Employee.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      tenant: { type: DataTypes.STRING(20), allowNull: false },
      name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
      title: DataTypes.STRING(50),
      username: DataTypes.STRING(50),
      salary: { type: DataTypes.DECIMAL(10, 2), validate: { min: 0 } },
      updatedBy: DataTypes.STRING,
      deletedAt: DataTypes.DATE,
    },
    { sequelize, modelName: 'Employee', timestamps: false, indexes: [{ fields: ['tenant'] }] },
  )

  return sequelize
}
