import type { Column, Schema } from './schema.js'
import type { Grammar } from './words.js'

/** Tables of the example application. */
export const SAMPLE: Schema = {
  tables: [
    createTable(
      'tasks',
      [
        idColumn(),
        createColumn('title', 'varchar(120)'),
        doneColumn(),
        { ...createColumn('project_id', 'integer'), isNullable: true },
      ],
      'projects',
    ),
    createTable('projects', [idColumn(), createColumn('name', 'varchar(80)')], null),
  ],
}

/** Singular and plural for the nouns of the example. Sequelize need not be installed. */
export const SAMPLE_GRAMMAR: Grammar = {
  singularize: (word) => word.replace(/s$/, ''),
  pluralize: (word) => `${word}s`,
}

function createTable(name: string, columns: readonly Column[], parent: string | null): Schema['tables'][number] {
  const foreignKeys = parent === null ? [] : [{ columns: ['project_id'], table: parent, targets: ['id'] }]
  return { name, comment: null, columns, primaryKey: ['id'], uniques: [], foreignKeys, checks: [] }
}

function createColumn(name: string, type: string): Column {
  return {
    name,
    type,
    values: null,
    isNullable: false,
    isNumbered: false,
    isComputed: false,
    default: null,
    comment: null,
  }
}

function idColumn(): Column {
  return { ...createColumn('id', 'integer'), isNumbered: true }
}

function doneColumn(): Column {
  return { ...createColumn('done', 'boolean'), default: { value: 'false' } }
}
