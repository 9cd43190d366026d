import { parseArgs } from 'node:util'
import { type LANGUAGES, WrongArgument } from './choices.js'
import { DATABASES } from './schema.js'

/** The parsed command line. Choices that the user has not made are undefined. */
export interface CreateArguments {
  readonly folder: string | undefined
  readonly language: (typeof LANGUAGES)[number] | undefined
  readonly database: (typeof DATABASES)[number] | undefined
  readonly login: boolean | undefined
  readonly docs: boolean | undefined
  readonly agents: boolean | undefined
  readonly live: boolean | undefined
  readonly from: string | undefined
  /** Version of `sequelize-crud-router` to install, or the path of a tarball. */
  readonly package: string | undefined
  readonly install: boolean
  /** Whether choices that the user has not made get their defaults without a question. */
  readonly yes: boolean
  readonly help: boolean
}

const BOOLEAN_OPTION = { type: 'boolean' } as const
const STRING_OPTION = { type: 'string' } as const

const OPTIONS = {
  ...{ typescript: BOOLEAN_OPTION, javascript: BOOLEAN_OPTION, database: STRING_OPTION, from: STRING_OPTION },
  ...{ login: BOOLEAN_OPTION, docs: BOOLEAN_OPTION, agents: BOOLEAN_OPTION, live: BOOLEAN_OPTION },
  ...{
    package: STRING_OPTION,
    install: BOOLEAN_OPTION,
    yes: { ...BOOLEAN_OPTION, short: 'y' },
    help: { ...BOOLEAN_OPTION, short: 'h' },
  },
} as const

export const HELP: string = `npm create sequelize-crud-router@latest [folder] -- [options]

  --typescript, --javascript   the language of the application
  --database NAME              ${DATABASES.join(', ')}
  --from ADDRESS               models from an existing database: postgres://..., mysql://..., mariadb://..., a SQLite file
  --login                      accounts and tokens (JWT); --no-login
  --docs                       documentation of the API at /docs; --no-docs
  --agents                     tools for agents at /mcp; --no-agents
  --live                       live changes by Socket.IO; --no-live
  --package SPEC               a version of sequelize-crud-router, or the path of a tarball
  --no-install                 only writes files
  --yes, -y                    asks no questions and uses the defaults
`

/** Parses the command line. @throws WrongArgument for an unknown or contradictory argument */
export function readArguments(args: readonly string[]): CreateArguments {
  const { values, positionals } = parseOptions(args)
  if (positionals.length > 1) throw new WrongArgument(`Name one folder, not ${positionals.join(' and ')}.`)
  if (values.typescript === true && values.javascript === true) {
    throw new WrongArgument('Choose one of --typescript and --javascript.')
  }
  if (values.from !== undefined && values.database !== undefined) {
    throw new WrongArgument('Leave out --database: --from already determines it.')
  }
  return {
    folder: positionals[0],
    language: readLanguage(values),
    database: values.database === undefined ? undefined : assertOneOf('--database', values.database, DATABASES),
    login: values.login,
    docs: values.docs,
    agents: values.agents,
    live: values.live,
    from: values.from,
    package: values.package,
    install: values.install ?? true,
    yes: values.yes ?? false,
    help: values.help ?? false,
  }
}

function readLanguage({
  typescript,
  javascript,
}: {
  typescript?: boolean
  javascript?: boolean
}): CreateArguments['language'] {
  if (javascript === true || typescript === false) return 'javascript'
  return typescript === true || javascript === false ? 'typescript' : undefined
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, allowNegative: true })
  } catch (error) {
    throw new WrongArgument(error instanceof Error ? error.message : String(error))
  }
}

function assertOneOf<T extends string>(name: string, value: string, all: readonly T[]): T {
  const found = all.find((each) => each === value.toLowerCase())
  if (found === undefined) throw new WrongArgument(`${name} must be one of ${all.join(', ')}, not "${value}".`)
  return found
}
