import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import type { CrudOptions, DocumentInfo } from '../../lib/index.js'

export const INFO: DocumentInfo = { title: 'Test', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } }

/** A model with a field of every type that all databases have, each once with rules and once without. */
export function defineKinds(sequelize: Sequelize): ModelStatic<Model> {
  return sequelize.define(
    'Kind',
    {
      name: { type: DataTypes.STRING(20), allowNull: false, validate: { len: [2, 20], is: /^[a-z]+$/ } },
      note: DataTypes.TEXT,
      code: { type: DataTypes.CHAR(4), validate: { len: [2, 4] } },
      word: { type: DataTypes.STRING, validate: { is: /^x/i } },
      email: { type: DataTypes.STRING, validate: { isEmail: true } },
      small: { type: DataTypes.SMALLINT, allowNull: false, defaultValue: 0 },
      count: { type: DataTypes.INTEGER, validate: { min: -5, max: 5 } },
      large: DataTypes.BIGINT,
      far: { type: DataTypes.BIGINT, validate: { min: 1 } },
      price: { type: DataTypes.DECIMAL(8, 2), validate: { min: 0 } },
      sum: DataTypes.DECIMAL(24, 4),
      rate: DataTypes.DOUBLE,
      single: DataTypes.FLOAT,
      isOpen: { type: DataTypes.BOOLEAN, allowNull: false },
      isOld: DataTypes.BOOLEAN,
      at: DataTypes.DATE,
      day: { type: DataTypes.DATEONLY, allowNull: false },
      time: DataTypes.TIME,
      token: DataTypes.UUID,
      state: { type: DataTypes.ENUM('new', 'done'), allowNull: false, defaultValue: 'new' },
      mood: DataTypes.ENUM('good', 'bad'),
      data: DataTypes.JSON,
      file: DataTypes.BLOB('tiny'),
      hidden: DataTypes.STRING,
      twice: {
        type: DataTypes.VIRTUAL(DataTypes.STRING),
        get(this: Model): string {
          return `${this.get('name')}${this.get('name')}`
        },
      },
    },
    { timestamps: true },
  )
}

export const KIND_OPTIONS: CrudOptions = {
  fields: { hidden: { exclude: true }, note: { exclude: 'list' }, file: { only: ['create', 'response'] } },
  unknownProperties: 'reject',
}
