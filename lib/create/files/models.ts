import { hasBuiltinSqlite } from '../choices.js'
import { toLiteral } from '../text.js'
import { joinLines, type Plan, writeImport } from './plan.js'
import { defaultUrl } from './project.js'

const IMPORTABLE_TYPES = [
  'type CreationOptional',
  'DataTypes',
  'type InferAttributes',
  'type InferCreationAttributes',
  'Model',
]

/** Writes the file with the connection, models and associations. */
export function writeModelsFile(plan: Plan): string {
  const { database, language, from, written } = plan
  const isBuiltin = database === 'sqlite' && hasBuiltinSqlite()
  const names = (language === 'typescript' ? [...IMPORTABLE_TYPES, 'Sequelize'] : ['DataTypes', 'Sequelize']).filter(
    (name) => isUsed(name.replace('type ', ''), written.source),
  )
  return joinLines(
    from !== null && `import { existsSync } from 'node:fs'`,
    writeImport(names, 'sequelize'),
    isBuiltin && `import { nodeSqlite } from 'sequelize-crud-router/node-sqlite'`,
    '',
    from !== null && `if (existsSync('.env')) process.loadEnvFile()`,
    ...(database === 'sqlite' ? writeSqlite(from, isBuiltin) : writeConnection(plan, defaultUrl(database))),
    '',
    written.source,
  )
}

/** Whether the models' source code uses a name that Sequelize exports. */
function isUsed(name: string, source: string): boolean {
  return name === 'Sequelize' || source.includes(name)
}

function writeSqlite(from: string | null, isBuiltin: boolean): readonly (string | false)[] {
  return [
    ...(from === null ? [] : writeVariable('DATABASE_FILE')),
    from === null && '/** The data is in one file. `DATABASE_FILE` sets another path. */',
    'export const sequelize = new Sequelize({',
    `  dialect: 'sqlite',`,
    isBuiltin && '  dialectModule: nodeSqlite,',
    `  storage: ${from === null ? `process.env.DATABASE_FILE ?? 'data.sqlite'` : 'DATABASE_FILE'},`,
    '  logging: false,',
    '})',
  ]
}

function writeConnection({ from }: Plan, url: string): readonly string[] {
  if (from !== null) {
    return [
      ...writeVariable('DATABASE_URL'),
      'export const sequelize = new Sequelize(DATABASE_URL, { logging: false })',
    ]
  }
  return [
    '/** The database of `compose.yaml`. `DATABASE_URL` sets another one. */',
    `export const sequelize = new Sequelize(process.env.DATABASE_URL ?? ${toLiteral(url)}, { logging: false })`,
  ]
}

function writeVariable(name: string): readonly string[] {
  return [
    `const { ${name} } = process.env`,
    `if (${name} === undefined) throw new Error('${name} is not set. Set it in .env or in the environment.')`,
    '',
  ]
}
