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

/** An account that can log in. The table has no resource, so that no data of this table leave the server. */
export class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {
  declare id: CreationOptional<number>
  declare username: string
  /** Password hash that `hashPassword` has returned. */
  declare password: string
  declare role: Role
  declare tenant: string
}

export class Employee extends Model<InferAttributes<Employee>, InferCreationAttributes<Employee>> {
  declare id: CreationOptional<number>
  declare tenant: string
  declare name: string
  declare title: CreationOptional<string | null>
  /** User name of the employee's account, if there is one. */
  declare username: CreationOptional<string | null>
  declare salary: CreationOptional<number | null>
  declare updatedBy: CreationOptional<string | null>
  declare deletedAt: CreationOptional<Date | null>
}

export function findUser(username: string): Promise<User | null> {
  return User.findOne({ where: { username } })
}

/** Connects the models to a SQLite file. The default driver is sqlite3. */
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

  // Behaviours add further columns to the model. The resource shows only columns that are declared here.
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
