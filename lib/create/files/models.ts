import { hasBuiltinSqlite } from '../choices.js'
import { literal } from '../text.js'
import { importing, lines, type Plan } from './plan.js'
import { defaultUrl } from './project.js'

const TYPES = ['type CreationOptional', 'DataTypes', 'type InferAttributes', 'type InferCreationAttributes', 'Model']

/** The file with the connection, models and associations. */
export function models(plan: Plan): string {
  const { database, language, from, written } = plan
  const isBuiltin = database === 'sqlite' && hasBuiltinSqlite()
  const names = (language === 'typescript' ? [...TYPES, 'Sequelize'] : ['DataTypes', 'Sequelize']).filter((name) =>
    isUsed(name.replace('type ', ''), written.source),
  )
  return lines(
    from !== null && `import { existsSync } from 'node:fs'`,
    importing(names, 'sequelize'),
    isBuiltin && `import { nodeSqlite } from 'sequelize-crud-router/node-sqlite'`,
    '',
    from !== null && `if (existsSync('.env')) process.loadEnvFile()`,
    ...(database === 'sqlite' ? sqlite(from, isBuiltin) : server(plan, defaultUrl(database))),
    '',
    written.source,
  )
}

/** Whether the models' source uses a name of Sequelize. */
function isUsed(name: string, source: string): boolean {
  return name === 'Sequelize' || source.includes(name)
}

function sqlite(from: string | null, isBuiltin: boolean): readonly (string | false)[] {
  return [
    ...(from === null ? [] : variable('DATABASE_FILE')),
    from === null && '/** The data is in one file. `DATABASE_FILE` sets another path. */',
    'export const sequelize = new Sequelize({',
    `  dialect: 'sqlite',`,
    isBuiltin && '  dialectModule: nodeSqlite,',
    `  storage: ${from === null ? `process.env.DATABASE_FILE ?? 'data.sqlite'` : 'DATABASE_FILE'},`,
    '  logging: false,',
    '})',
  ]
}

function server({ from }: Plan, url: string): readonly string[] {
  if (from !== null) {
    return [...variable('DATABASE_URL'), 'export const sequelize = new Sequelize(DATABASE_URL, { logging: false })']
  }
  return [
    '/** The database of `compose.yaml`. `DATABASE_URL` sets another one. */',
    `export const sequelize = new Sequelize(process.env.DATABASE_URL ?? ${literal(url)}, { logging: false })`,
  ]
}

function variable(name: string): readonly string[] {
  return [
    `const { ${name} } = process.env`,
    `if (${name} === undefined) throw new Error('${name} is not set. Set it in .env or in the environment.')`,
    '',
  ]
}
