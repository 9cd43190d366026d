import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'

/** Defines typical models. Each model has three associations. The first model is the owner of all others. */
export function defineModels(sequelize: Sequelize, count: number): readonly ModelStatic<Model>[] {
  const models = Array.from({ length: count }, (_, index) => define(sequelize, `Model${index}`))
  for (const [index, model] of models.entries()) {
    const [owner = model] = models
    const parent = models[index - 1] ?? model
    model.belongsTo(owner, { as: 'owner', foreignKey: 'ownerId', constraints: false })
    model.belongsTo(parent, { as: 'parent', foreignKey: 'parentId', constraints: false })
    owner.hasMany(model, { as: `owned${index}`, foreignKey: 'ownerId', constraints: false })
  }
  return models
}

function define(sequelize: Sequelize, name: string): ModelStatic<Model> {
  return sequelize.define(name, {
    id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
    name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
    email: { type: DataTypes.STRING(200), validate: { isEmail: true } },
    code: { type: DataTypes.STRING(20), validate: { is: /^[A-Z]+-\d+$/ } },
    level: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1, validate: { min: 1, max: 100 } },
    price: { type: DataTypes.DECIMAL(10, 2), validate: { min: 0 } },
    status: { type: DataTypes.ENUM('open', 'paid', 'closed'), allowNull: false, defaultValue: 'open' },
    isActive: { type: DataTypes.BOOLEAN, defaultValue: true },
    birthday: DataTypes.DATEONLY,
    note: DataTypes.TEXT,
    ownerId: DataTypes.INTEGER,
    parentId: DataTypes.INTEGER,
  })
}

/** JSON body that creates a record. */
export const BODY: string = JSON.stringify({ name: 'Ana', email: 'ana@example.com', code: 'A-1', level: 7, price: 9.5 })
