import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import type { CrudOptions, DocumentInfo, OpenApiDocument } from '../../lib/index.js'

export const INFO: DocumentInfo = { title: 'Test', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } }

/**
 * Defines a model with a field of every type that all databases support. Each type has a field with validators and a
 * field without validators.
 */
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

/**
 * Resolves the references in a document. `isReferenced` selects components whose references are kept, with the component.
 * Default: schemas of objects.
 */
export function resolveReferences(
  document: OpenApiDocument,
  isReferenced: (place: string) => boolean = (place) => Reflect.get(contentAt(document, place), 'type') === 'object',
): OpenApiDocument {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const place: unknown = Reflect.get(value, '$ref')
    if (typeof place === 'string' && !isReferenced(place)) return resolve(contentAt(document, place))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolve(each)]))
  }
  const { components, ...others } = document
  const found = Object.entries(components).flatMap(([kind, all]) => {
    const left = Object.entries(all).filter(([name]) => isReferenced(`#/components/${kind}/${name}`))
    return left.length === 0 ? [] : [[kind, Object.fromEntries(left)]]
  })
  return resolve({ ...others, components: Object.fromEntries(found) }) as OpenApiDocument
}

function contentAt(document: object, place: string): object {
  const names = place.slice(2).split('/')
  return names.reduce((at: object, name) => Object(Reflect.get(at, name)), document)
}
