import { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import test from 'ava'
import Joi from 'joi'
import { DataTypes, Model, type ModelStatic, Sequelize } from 'sequelize'
import { BEHAVIOURS } from '../../../lib/behaviours.js'
import { DEFAULT_LIMITS } from '../../../lib/compile/limits.js'
import { optionShape } from '../../../lib/compile/options.js'
import { QUERY } from '../../../lib/compile/query.js'
import {
  allOf,
  anyOf,
  type ConfigErrorCode,
  CrudConfigError,
  type CrudDefaults,
  type CrudOptions,
  createCrud,
  crudController,
  crudRouter,
  hasPermission,
  hasRole,
  jwtIdentity,
  not,
  queryOf,
} from '../../../lib/index.js'
import { OPERATIONS } from '../../../lib/operations.js'
import type { Resource } from '../../../types/resource.js'
import { sqliteOptions } from '../../support/database.js'

// Nothing here reaches a database: all of it is thrown while mounting.
const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })

/** An instance of Sequelize as where it is installed twice. */
function otherCopy(): Sequelize {
  const require = createRequire(import.meta.url)
  const own = Object.keys(require.cache).filter((path) => /[\\/]node_modules[\\/]sequelize[\\/]/.test(path))
  const kept = own.map((path) => [path, require.cache[path]] as const)
  for (const path of own) delete require.cache[path]
  const { Sequelize: Other }: { Sequelize: typeof Sequelize } = require('sequelize')
  for (const [path, module] of kept) require.cache[path] = module
  return new Other({ ...sqliteOptions, storage: ':memory:', logging: false })
}

const validOptions = Object.keys(optionShape(BEHAVIOURS)).join(', ')

const Team = sequelize.define('Team', { name: DataTypes.STRING, motto: DataTypes.STRING })
const Player = sequelize.define('Player', {
  name: { type: DataTypes.STRING(50), allowNull: false, unique: true },
  level: DataTypes.INTEGER,
  meta: DataTypes.JSON,
  label: {
    type: DataTypes.VIRTUAL(DataTypes.STRING),
    get() {
      return 'x'
    },
  },
})
Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })

const Chain = sequelize.define('Chain', { name: DataTypes.STRING, meta: DataTypes.JSON })
Chain.belongsTo(Chain, { as: 'next', foreignKey: 'nextId' })

const Fixed = sequelize.define('Fixed', { name: DataTypes.STRING })
for (const as of ['restore', 'bulk', 'Restore', 'items', 'Items']) Fixed.hasMany(Fixed, { as, foreignKey: 'fixedId' })

const Keyless = sequelize.define('Keyless', { name: DataTypes.STRING }, { timestamps: false })
Keyless.removeAttribute('id')
const Composite = sequelize.define('Composite', {
  left: { type: DataTypes.INTEGER, primaryKey: true },
  right: { type: DataTypes.INTEGER, primaryKey: true },
})
const Twins = sequelize.define('Twins', { first_name: DataTypes.STRING, firstName: DataTypes.STRING })
const CaseTwins = sequelize.define('CaseTwins', { vatid: DataTypes.STRING, vatId: DataTypes.STRING })
const Unmeetable = sequelize.define('Unmeetable', { price: { type: DataTypes.DECIMAL(3, 2), validate: { min: 100 } } })
const Aliased = sequelize.define('Aliased', { Address: DataTypes.STRING, secret: DataTypes.STRING })
Aliased.hasOne(Chain, { as: 'address', foreignKey: 'nextId' })
Aliased.hasOne(Chain, { as: 'Secret', foreignKey: 'nextId' })
class Bare extends Model {}

const PATH = 'a path of letters, digits and - . _ ~'

type Row = readonly [what: string, model: ModelStatic<Model>, options: unknown, code: ConfigErrorCode, message: string]

const ROWS: readonly Row[] = [
  [
    'an attribute that is an association in another case',
    Aliased,
    { fields: { secret: { exclude: true } } },
    'AMBIGUOUS_NAME',
    'Aliased: the attribute "Address" and the association "address" are both "address" in responses. Give the association another name, or exclude the attribute in fields. (AMBIGUOUS_NAME)',
  ],
  // The key.
  [
    'a key property that matches no attribute',
    Player,
    { keyProperty: 'idd' },
    'SDTO011',
    'Player: the key property "idd" matches no attribute. Did you mean "id"? Valid: id, name, level, meta, label, createdAt, updatedAt, teamId. (SDTO011)',
  ],
  [
    'a key property in another case',
    Player,
    { keyProperty: 'ID' },
    'SDTO011',
    'Player: the key property "ID" matches no attribute. Did you mean "id"? Valid: id, name, level, meta, label, createdAt, updatedAt, teamId. (SDTO011)',
  ],
  [
    'a key property that is near nothing',
    Player,
    { keyProperty: 'somethingElse' },
    'SDTO011',
    'Player: the key property "somethingElse" matches no attribute. Valid: id, name, level, meta, label, createdAt, updatedAt, teamId. (SDTO011)',
  ],
  [
    'a key property that only objects have',
    Player,
    { keyProperty: 'constructor' },
    'SDTO011',
    'Player: the key property "constructor" matches no attribute. Valid: id, name, level, meta, label, createdAt, updatedAt, teamId. (SDTO011)',
  ],
  [
    'a key property that is an association',
    Player,
    { keyProperty: 'team' },
    'SDTO011',
    'Player: the key property "team" matches no attribute. Did you mean "teamId"? Valid: id, name, level, meta, label, createdAt, updatedAt, teamId. (SDTO011)',
  ],
  [
    'a virtual key property',
    Player,
    { keyProperty: 'label' },
    'SDTO011',
    'Player: the key "label" has no column. (SDTO011)',
  ],
  [
    'a key property that several records may share',
    Player,
    { keyProperty: 'level' },
    'SDTO011',
    'Player: the key "level" is neither the primary key nor unique by itself: name an attribute that is unique by itself as keyProperty. (SDTO011)',
  ],
  [
    'a model without a key',
    Keyless,
    {},
    'SDTO011',
    'Keyless has no attribute "id", and it has no primary key: name an attribute that is unique by itself as keyProperty. (SDTO011)',
  ],
  [
    'one of several attributes of the primary key',
    Composite,
    { keyProperty: 'left' },
    'SDTO011',
    'Composite: the key "left" is a part of the primary key (left, right): name an attribute that is unique by itself as keyProperty. (SDTO011)',
  ],
  // The model.
  [
    'a model that was never initialised',
    Bare,
    {},
    'NOT_A_MODEL',
    'Bare is not initialised: call Bare.init first. (NOT_A_MODEL)',
  ],
  [
    'a model of another copy of Sequelize',
    otherCopy().define('Player', { name: DataTypes.STRING }),
    {},
    'NOT_A_MODEL',
    'Player was defined with another installed copy of sequelize than the one that this package uses. The command "npm ls sequelize" lists the copies. (NOT_A_MODEL)',
  ],
  [
    'something that is no model',
    { name: 'Player' } as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not an object. (NOT_A_MODEL)',
  ],
  [
    'nothing for a model',
    undefined as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not undefined. (NOT_A_MODEL)',
  ],
  [
    'a name for a model',
    'Player' as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not the string "Player". (NOT_A_MODEL)',
  ],
  [
    'a record for a model',
    Player.build() as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not a record of Player. Pass the class. (NOT_A_MODEL)',
  ],
  [
    'a module for a model',
    { default: Player } as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not a module. Pass its default export. (NOT_A_MODEL)',
  ],
  [
    'a definition for a model',
    function define() {} as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not the function define. If it defines a model, call it and pass its result. (NOT_A_MODEL)',
  ],
  [
    'a request for a model, as from app.use(crudRouter)',
    new IncomingMessage(new Socket()) as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not an IncomingMessage. (NOT_A_MODEL)',
  ],
  [
    'an array for a model',
    [Player] as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not an array. (NOT_A_MODEL)',
  ],
  [
    'a Sequelize instance for a model',
    Player.sequelize as unknown as ModelStatic<Model>,
    {},
    'NOT_A_MODEL',
    'The first argument must be a Sequelize model class, not a Sequelize. (NOT_A_MODEL)',
  ],
  [
    'two attributes that give one JSON name',
    Twins,
    {},
    'AMBIGUOUS_NAME',
    'Twins: the attributes "first_name" and "firstName" are both "firstName" in responses. Give two associations over one column the same foreignKey, or exclude one of the two in fields. (AMBIGUOUS_NAME)',
  ],
  [
    'two attributes whose JSON names differ in case only',
    CaseTwins,
    {},
    'AMBIGUOUS_NAME',
    'CaseTwins: the attributes "vatid" and "vatId" are both "vatId" in responses. Give two associations over one column the same foreignKey, or exclude one of the two in fields. (AMBIGUOUS_NAME)',
  ],
  // Options by name.
  [
    'an option that does not exist',
    Player,
    { operation: 3 },
    'UNKNOWN_OPTION',
    `Player: the option "operation" does not exist. Did you mean "operations"? Valid: ${validOptions}. (UNKNOWN_OPTION)`,
  ],
  ...(
    [
      ['path', '"route"'],
      ['prefix', '"routePrefix"'],
      ['readPolicy', '"getByIdPolicy" or "getListPolicy"'],
      ['getPolicy', '"getByIdPolicy" or "getListPolicy"'],
      ['pageSize', '"query.pageSize"'],
      ['bodySize', '"limits.bodySize"'],
      ['io', '"push.io"'],
      ['policy', '"authorizePolicy"'],
      ['auth', '"identity" or "authorizePolicy"'],
      ['middleware', '"use"'],
      ['where', '"scope"'],
      ['include', '"relations" or "flatten"'],
      ['attributes', '"fields"'],
      ['exclude', '"fields"'],
      ['hidden', '"fields"'],
      ['readOnly', '"operations"'],
      ['paranoid', '"softDelete"'],
      ['version', '"concurrency"'],
    ] as const
  ).map(
    ([name, meant]) =>
      [
        `the option ${name}, which is called otherwise here`,
        Player,
        { [name]: 1 },
        'UNKNOWN_OPTION',
        `Player: the option "${name}" does not exist. Did you mean ${meant}? Valid: ${validOptions}. (UNKNOWN_OPTION)`,
      ] as const,
  ),
  [
    'an option that only objects have',
    Player,
    { constructor: 1 },
    'UNKNOWN_OPTION',
    `Player: the option "constructor" does not exist. Valid: ${validOptions}. (UNKNOWN_OPTION)`,
  ],
  [
    'a query option that does not exist',
    Player,
    { query: { defaultsort: 'Name' } },
    'UNKNOWN_OPTION',
    `Player: query: the option "defaultsort" does not exist. Did you mean "defaultSort"? Valid: ${Object.keys(QUERY).join(', ')}. (UNKNOWN_OPTION)`,
  ],
  [
    'a limit that does not exist',
    Player,
    { limits: { bulkItem: 5 } },
    'UNKNOWN_OPTION',
    `Player: limits: the option "bulkItem" does not exist. Did you mean "bulkItems"? Valid: ${Object.keys(DEFAULT_LIMITS).join(', ')}. (UNKNOWN_OPTION)`,
  ],
  [
    'a shape that does not exist',
    Player,
    { names: { updates: 'X' } },
    'UNKNOWN_OPTION',
    'Player: names: the option "updates" does not exist. Did you mean "update"? Valid: create, update, response, list, query. (UNKNOWN_OPTION)',
  ],
  [
    'a field option that does not exist',
    Player,
    { fields: { name: { excluded: true } } },
    'UNKNOWN_OPTION',
    'Player: fields.name: the option "excluded" does not exist. Did you mean "exclude"? Valid: exclude, only, rules, schema, filterable, sortable, members, decimal, name, deprecated. (UNKNOWN_OPTION)',
  ],
  [
    'a rule that does not exist',
    Player,
    { fields: { name: { rules: { minlength: 2 } } } },
    'UNKNOWN_OPTION',
    'Player: fields.name.rules: the option "minlength" does not exist. Did you mean "minLength"? Valid: required, minLength, maxLength, min, max, email, match. (UNKNOWN_OPTION)',
  ],
  // Attributes and associations.
  [
    'a field that is no attribute',
    Player,
    { fields: { nmae: { exclude: true } } },
    'UNKNOWN_ATTRIBUTE',
    'Player: fields: the attribute "nmae" does not exist. Did you mean "name"? Valid: id, name, level, meta, label, createdAt, updatedAt, teamId. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'a field in another case',
    Player,
    { fields: { Level: { exclude: true } } },
    'UNKNOWN_ATTRIBUTE',
    'Player: fields: the attribute "Level" does not exist. Did you mean "level"? Valid: id, name, level, meta, label, createdAt, updatedAt, teamId. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'a default sort by a field that does not exist',
    Player,
    { query: { defaultSort: '-Levle' } },
    'UNKNOWN_ATTRIBUTE',
    'Player: query.defaultSort: the sortable field "Levle" does not exist. Did you mean "level"? Valid: id, name, level, createdAt, updatedAt, teamId. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'a default sort by a field that is no field to sort by',
    Player,
    { query: { defaultSort: 'meta' } },
    'UNKNOWN_ATTRIBUTE',
    'Player: query.defaultSort: "meta" is not a sortable field. Valid: id, name, level, createdAt, updatedAt, teamId. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'a default sort over an association that does not exist',
    Player,
    { query: { defaultSort: 'Name,-Taem.Name' } },
    'UNKNOWN_ASSOCIATION',
    'Player: query.defaultSort: the association "Taem" does not exist. Did you mean "team"? Valid: team. (UNKNOWN_ASSOCIATION)',
  ],
  [
    'a default sort by a name that does not exist behind an association',
    Player,
    { query: { defaultSort: 'Team.Mottto' } },
    'UNKNOWN_ATTRIBUTE',
    'Player: query.defaultSort: the sortable field "Mottto" does not exist. Did you mean "motto"? Valid: id, name, motto, createdAt, updatedAt. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'a default sort by what has no order behind an association',
    Chain,
    { query: { defaultSort: 'Next.Meta' } },
    'UNKNOWN_ATTRIBUTE',
    'Chain: query.defaultSort: "Next.Meta" is not a sortable field. Valid: id, name, createdAt, updatedAt, nextId. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'a default sort by an association itself',
    Player,
    { query: { defaultSort: 'Team' } },
    'UNKNOWN_ATTRIBUTE',
    'Player: query.defaultSort: the sortable field "Team" does not exist. Did you mean "teamId"? Valid: id, name, level, createdAt, updatedAt, teamId. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'a default sort over a collection',
    Team,
    { query: { defaultSort: 'Players.Name' } },
    'INVALID_OPTION',
    'Team: query.defaultSort: "Players" leads to several records, but the path must lead to one record. Valid: id, name, motto, createdAt, updatedAt. (INVALID_OPTION)',
  ],
  [
    'a default sort by a count, over a relation in another case',
    Team,
    { query: { defaultSort: '-PLAYERS.Count' } },
    'INVALID_OPTION',
    'Team: query.defaultSort: "PLAYERS.Count" is the number of related records. Clients can sort by it, but options cannot. Valid: id, name, motto, createdAt, updatedAt. (INVALID_OPTION)',
  ],
  [
    'a default sort by a count behind a relation',
    Player,
    { query: { defaultSort: 'team.players.count' } },
    'INVALID_OPTION',
    'Player: query.defaultSort: "team.players.count" is the number of related records. Clients can sort by it, but options cannot. Valid: team.id, team.name, team.motto, team.createdAt, team.updatedAt. (INVALID_OPTION)',
  ],
  [
    'a default sort by a count over an association that does not exist',
    Team,
    { query: { defaultSort: '-Playrs.Count' } },
    'UNKNOWN_ASSOCIATION',
    'Team: query.defaultSort: the association "Playrs" does not exist. Did you mean "players"? Valid: players. (UNKNOWN_ASSOCIATION)',
  ],
  [
    'a default sort over more relations than a path may cross',
    Chain,
    { query: { defaultSort: 'Next.Next.Next.Next.Name' } },
    'INVALID_OPTION',
    'Chain: query.defaultSort: "Next.Next.Next.Next.Name" crosses more relations than the limit of 3 (pathDepth). (INVALID_OPTION)',
  ],
  [
    'a default sort over more relations than the host lets a path cross',
    Chain,
    { query: { defaultSort: 'Next.Next.Name' }, limits: { pathDepth: 1 } },
    'INVALID_OPTION',
    'Chain: query.defaultSort: "Next.Next.Name" crosses more relations than the limit of 1 (pathDepth). (INVALID_OPTION)',
  ],
  [
    'a default sort over a relation that is closed',
    Player,
    { relations: { team: false }, query: { defaultSort: 'Team.Name' } },
    'INVALID_OPTION',
    'Player: query.defaultSort: the option "relations" disables the association "Team". (INVALID_OPTION)',
  ],
  [
    'a default sort by a field that is not among those that are opened',
    Player,
    { relations: { team: { fields: ['name'] } }, query: { defaultSort: 'Team.Motto' } },
    'UNKNOWN_ATTRIBUTE',
    'Player: query.defaultSort: "Team.Motto" is not a sortable field. Valid: name. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'flattening a relation that is closed',
    Player,
    { relations: false, flatten: ['team'] },
    'INVALID_OPTION',
    'Player: flatten: the option "relations" disables the association "team". (INVALID_OPTION)',
  ],
  [
    'an opened relation field that is no attribute of the target',
    Player,
    { relations: { team: { fields: ['mottto'] } } },
    'UNKNOWN_ATTRIBUTE',
    'Player: relations.team: the attribute "mottto" does not exist. Did you mean "motto"? Valid: id, name, motto, createdAt, updatedAt. (UNKNOWN_ATTRIBUTE)',
  ],
  [
    'a relation that is no association',
    Player,
    { relations: { Team: true } },
    'UNKNOWN_ASSOCIATION',
    'Player: relations: the association "Team" does not exist. Did you mean "team"? Valid: team. (UNKNOWN_ASSOCIATION)',
  ],
  [
    'flatten of what is neither association nor attribute',
    Player,
    { flatten: ['taem'] },
    'UNKNOWN_ASSOCIATION',
    'Player: flatten: the association "taem" does not exist. Did you mean "team"? Valid: team, meta. (UNKNOWN_ASSOCIATION)',
  ],
  // Operations.
  [
    'an operation that does not exist',
    Player,
    { operations: ['getById', 'getLists'] },
    'UNKNOWN_OPERATION',
    'Player: the operation "getLists" does not exist. Did you mean "getList"? Valid: getById, getList, create, update, delete, bulkCreate, bulkDelete, restore, aggregate, export, bulkUpdate, replace, upsert. (UNKNOWN_OPERATION)',
  ],
  [
    'an operation that is the beginning of several',
    Player,
    { operations: ['bul'] },
    'UNKNOWN_OPERATION',
    'Player: the operation "bul" does not exist. Did you mean "bulkCreate" or "bulkDelete" or "bulkUpdate"? Valid: getById, getList, create, update, delete, bulkCreate, bulkDelete, restore, aggregate, export, bulkUpdate, replace, upsert. (UNKNOWN_OPERATION)',
  ],
  ...(['All', 'read', 'AllWithBulk'] as const).map(
    (name) =>
      [
        `the sum ${name} among the names of operations`,
        Player,
        { operations: [name] },
        'UNKNOWN_OPERATION',
        `Player: "${name}" is the name of several operations. Set operations: Operations.${name === 'read' ? 'Read' : name}, or list the operations one by one. Valid: getById, getList, create, update, delete, bulkCreate, bulkDelete, restore, aggregate, export, bulkUpdate, replace, upsert. (UNKNOWN_OPERATION)`,
      ] as const,
  ),
  [
    'an operation that is no name',
    Player,
    { operations: [5] },
    'UNKNOWN_OPERATION',
    'Player: the operation "5" does not exist. Valid: getById, getList, create, update, delete, bulkCreate, bulkDelete, restore, aggregate, export, bulkUpdate, replace, upsert. (UNKNOWN_OPERATION)',
  ],
  [
    'a list of the name of an operation among the names',
    Player,
    { operations: [['getList']] },
    'UNKNOWN_OPERATION',
    `Player: the operation "[ 'getList' ]" does not exist. Valid: getById, getList, create, update, delete, bulkCreate, bulkDelete, restore, aggregate, export, bulkUpdate, replace, upsert. (UNKNOWN_OPERATION)`,
  ],
  ...[0, -1, 1.5, 2 ** 20, Number.NaN].map(
    (sum): Row => [
      `operations: ${sum}`,
      Player,
      { operations: sum },
      'INVALID_OPTION',
      `Player: operations must be a combination of Operations, not ${sum}. Valid: getById 1, getList 2, create 4, update 8, delete 16, bulkCreate 32, bulkDelete 64, restore 128, aggregate 256, export 512, bulkUpdate 1024, replace 2048. (INVALID_OPTION)`,
    ],
  ),
  // Rules on types that cannot have them.
  [
    'a length of a number',
    Player,
    { fields: { level: { rules: { maxLength: 3 } } } },
    'RULE_TYPE',
    'Player.level: rules.maxLength applies to strings, not to integer. For other types set the option "schema" to a Joi schema. (RULE_TYPE)',
  ],
  [
    'an e-mail that is a number',
    Player,
    { fields: { level: { rules: { email: true } } } },
    'RULE_TYPE',
    'Player.level: rules.email applies to strings, not to integer. For other types set the option "schema" to a Joi schema. (RULE_TYPE)',
  ],
  [
    'a bound of text',
    Player,
    { fields: { name: { rules: { min: 3 } } } },
    'RULE_TYPE',
    'Player.name: rules.min applies to numbers, not to string. For other types set the option "schema" to a Joi schema. (RULE_TYPE)',
  ],
  // Bounds that no value meets.
  [
    'a minimum beyond the column',
    Player,
    { fields: { level: { rules: { min: 1e15 } } } },
    'RULE_BOUNDS',
    'Player.level: no number can be at least 1000000000000000 and at most 2147483647. Check the option rules, and "validate" and "type" of the attribute. (RULE_BOUNDS)',
  ],
  [
    'bounds without a whole number between them',
    Player,
    { fields: { level: { rules: { min: 1.2, max: 1.8 } } } },
    'RULE_BOUNDS',
    'Player.level: no number can be at least 1.2 and at most 1.8. Check the option rules, and "validate" and "type" of the attribute. (RULE_BOUNDS)',
  ],
  [
    'a length beyond the column',
    Player,
    { fields: { name: { rules: { minLength: 300 } } } },
    'RULE_BOUNDS',
    'Player.name: no text can be at least 300 and at most 50 characters. Check the option rules, and "validate" and "type" of the attribute. (RULE_BOUNDS)',
  ],
  [
    'bounds of the model that its column has not',
    Unmeetable,
    {},
    'RULE_BOUNDS',
    'Unmeetable.price: no number can be at least 100 and at most 9.99. Check the option rules, and "validate" and "type" of the attribute. (RULE_BOUNDS)',
  ],
]

// Options of the wrong kind: the option, a value, and what it must be.
const KINDS: readonly (readonly [path: string, value: unknown, what: string])[] = [
  ['route', 5, PATH],
  ...[
    ':id',
    'a(b)',
    'a*',
    'a+',
    'a?',
    '{a}',
    '[a]',
    'a!',
    'a b',
    'a%20b',
    'a#b',
    'a\\b',
    'a/../b',
    './a',
    'ł',
    'a,b',
    'a;b',
  ].flatMap((path) => [['route', path, PATH] as const, ['routePrefix', path, PATH] as const]),
  ['route', ' ', PATH],
  ['routePrefix', '', PATH],
  ['keyProperty', '', "an attribute's name or an array of them"],
  ['keyProperty', [], "an attribute's name or an array of them"],
  ['operations', 'all', 'a sum of Operations or an array of names'],
  ['use', 'helmet', 'a request handler or an array of them'],
  ['use', [undefined], 'a request handler or an array of them'],
  ['configure', {}, 'a function'],
  ['fields', ['name'], 'an object with attributes as keys'],
  ['fields', 'name', 'an object with attributes as keys'],
  ['flatten', 'team', 'an array of names'],
  ['names', 'Gamer', 'an object with shapes as keys'],
  ['unknownProperties', 'refuse', '"ignore" or "reject"'],
  ['unknownProperties', true, '"ignore" or "reject"'],
  ['relations', 'team', 'a boolean or an object with associations as keys'],
  ['relations', ['team'], 'a boolean or an object with associations as keys'],
  ['query', true, 'an object'],
  ['limits', 5, 'an object with limits as keys'],
  ['onError', 'log', 'a function'],
  ['query.sortable', 'yes', 'a boolean'],
  ['query.defaultSort', ['Name'], 'a sort expression'],
  ['query.defaultDirection', 'up', '"asc" or "desc"'],
  ['query.unknownFields', 'drop', '"reject" or "ignore"'],
  ['query.pageSize', 0, 'a whole number from 1'],
  ['query.pageSize', 2.5, 'a whole number from 1'],
  ['query.maxPageSize', '100', 'a whole number from 1'],
  ['limits.bulkItems', 0, 'a whole number from 1'],
  ['limits.bodySize', '1mb', 'a whole number from 1'],
  ['limits.joins', 0, 'a whole number from 1'],
  ['limits.quantifiers', -1, 'a whole number from 1'],
  ['limits.quantifierDepth', 1.5, 'a whole number from 1'],
  ['limits.writeQueue', 0, 'a whole number from 1'],
  ['limits.retries', -1, 'a whole number from 0'],
  ['limits.writeTime', 0, 'a whole number of milliseconds from 1 to 2147483647'],
  ['limits.writeTime', 2 ** 31, 'a whole number of milliseconds from 1 to 2147483647'],
  ['limits.cost', 0, 'a whole number from 1, or false'],
  ['limits.statementTime', 0, 'a whole number of milliseconds from 1 to 2147483647, or false'],
  ['limits.statementTime', true, 'a whole number of milliseconds from 1 to 2147483647, or false'],
  ['limits.nesting', Number.POSITIVE_INFINITY, 'a whole number from 1'],
  ['names.create', '', 'a name'],
  ['fields.name.exclude', false, 'true, or one or more of "create", "update", "query", "response", "list"'],
  ['fields.name.exclude', 'responses', 'true, or one or more of "create", "update", "query", "response", "list"'],
  ['fields.name.only', ['create', 'patch'], 'one or more of "create", "update", "query", "response", "list"'],
  ['fields.name.only', true, 'one or more of "create", "update", "query", "response", "list"'],
  ['fields.name.rules', 'required', 'an object with rules as keys'],
  ['fields.name.schema', {}, 'a joi schema'],
  ['fields.name.filterable', 1, 'a boolean'],
  ['fields.name.sortable', 'no', 'a boolean'],
  ['fields.name.decimal', 'text', '"string" or "number"'],
  ['fields.name.rules.required', 'yes', 'a boolean'],
  ['fields.name.rules.minLength', -1, 'a whole number from 0'],
  ['fields.name.rules.maxLength', '50', 'a whole number from 0'],
  ['fields.name.rules.min', '1', 'a number'],
  ['fields.name.rules.max', Number.NaN, 'a number'],
  ['fields.name.rules.email', 1, 'a boolean'],
  ['fields.name.rules.match', '^a', 'a regular expression'],
]

function nested(path: readonly string[], value: unknown): unknown {
  const [name = '', ...rest] = path
  return { [name]: rest.length === 0 ? value : nested(rest, value) }
}

const kinds = KINDS.map(([path, value, what]): Row => {
  const names = path.split('.')
  const parents = names.slice(0, -1).join('.')
  const where = parents === '' ? 'Player' : `Player: ${parents}`
  return [
    `${path}: ${JSON.stringify(value) ?? String(value)}`,
    Player,
    nested(names, value),
    'INVALID_OPTION',
    `${where}: the option "${names.at(-1)}" must be ${what}. (INVALID_OPTION)`,
  ]
})

const OTHERS: readonly Row[] = [
  [
    'options that are no object',
    Player,
    5,
    'INVALID_OPTION',
    'Player: the options must be an object. (INVALID_OPTION)',
  ],
  ['options that are a list', Player, [], 'INVALID_OPTION', 'Player: the options must be an object. (INVALID_OPTION)'],
  ['options that are null', Player, null, 'INVALID_OPTION', 'Player: the options must be an object. (INVALID_OPTION)'],
  [
    'a field without options',
    Player,
    { fields: { name: true } },
    'INVALID_OPTION',
    'Player: fields.name must be an object. (INVALID_OPTION)',
  ],
  [
    'a page size over its own maximum',
    Player,
    { query: { pageSize: 50, maxPageSize: 20 } },
    'INVALID_OPTION',
    'Player: query.pageSize is greater than query.maxPageSize. (INVALID_OPTION)',
  ],
  [
    'flatten of a to-many association',
    Team,
    { flatten: ['players'] },
    'INVALID_OPTION',
    'Team: flatten: "players" must be a to-one association or a JSON attribute. (INVALID_OPTION)',
  ],
  [
    'flatten of an attribute that holds no JSON',
    Player,
    { flatten: ['level'] },
    'INVALID_OPTION',
    'Player: flatten: "level" must be a to-one association or a JSON attribute. (INVALID_OPTION)',
  ],
  [
    'a relation that is neither on, off nor opened by name',
    Player,
    { relations: { team: 'name' } },
    'INVALID_OPTION',
    'Player: relations: the option "team" must be a boolean, an object with the array of names "fields", or one with "routes" or "write". (INVALID_OPTION)',
  ],
  [
    'a relation opened without naming its fields',
    Player,
    { relations: { team: {} } },
    'INVALID_OPTION',
    'Player: relations: the option "team" must be a boolean, an object with the array of names "fields", or one with "routes" or "write". (INVALID_OPTION)',
  ],
  [
    'a relation opened for one field that is in no array',
    Player,
    { relations: { team: { fields: 'name' } } },
    'INVALID_OPTION',
    'Player: relations.team: the option "fields" must be an array of names. (INVALID_OPTION)',
  ],
  [
    'a relation with an option that is none',
    Team,
    { relations: { players: { route: true } } },
    'UNKNOWN_OPTION',
    'Team: relations.players: the option "route" does not exist. Did you mean "routes"? Valid: fields, routes, write, resource, name. (UNKNOWN_OPTION)',
  ],
  [
    'routes of a relation that are neither on nor off',
    Team,
    { relations: { players: { routes: 'yes' } } },
    'INVALID_OPTION',
    'Team: relations.players: the option "routes" must be a boolean. (INVALID_OPTION)',
  ],
  [
    'nested writing that is there and undefined',
    Team,
    { relations: { players: { write: undefined } } },
    'INVALID_OPTION',
    'Team: relations.players: the option "write" must be a boolean. (INVALID_OPTION)',
  ],
  [
    'a resource of a relation that is no router',
    Team,
    { relations: { players: { routes: true, resource: Player.name } } },
    'INVALID_OPTION',
    'Team: relations.players: the option "resource" must be a router, or a function that returns one. (INVALID_OPTION)',
  ],
  [
    'a resource of a relation without routes and nested writing',
    Team,
    { relations: { players: { resource: () => Player } } },
    'INVALID_OPTION',
    'Team: relations.players: "resource" needs "routes" or "write". (INVALID_OPTION)',
  ],
  [
    'routes of a relation whose fields are opened',
    Team,
    { relations: { players: { fields: ['name'], routes: true } } },
    'INVALID_OPTION',
    'Team: relations.players: "fields" cannot be combined with "routes", "write" or "resource". (INVALID_OPTION)',
  ],
  [
    'nested writing of a relation whose fields are opened',
    Team,
    { relations: { players: { fields: ['name'], write: true } } },
    'INVALID_OPTION',
    'Team: relations.players: "fields" cannot be combined with "routes", "write" or "resource". (INVALID_OPTION)',
  ],
  [
    'nested writing of the record that another one belongs to',
    Player,
    { relations: { team: { write: true } } },
    'INVALID_OPTION',
    'Player: relations.team: "write" is not possible for a belongsTo association, whose target is a parent. (INVALID_OPTION)',
  ],
  ...['restore', 'bulk', 'Restore'].map(
    (name): Row => [
      `routes of a relation named ${name}`,
      Fixed,
      { relations: { [name]: { routes: true } } },
      'INVALID_OPTION',
      `Fixed: relations.${name}: "routes" is not possible here: "${name.toLowerCase()}" is the route of an operation. Give the association another name. (INVALID_OPTION)`,
    ],
  ),
  [
    'routes of two relations that differ in case alone',
    Fixed,
    { relations: { items: { routes: true } } },
    'INVALID_OPTION',
    'Fixed: relations.items: "routes" is not possible here: the association "Items" would have the same route, because routes ignore case. Set "name" to another name. (INVALID_OPTION)',
  ],
]

type Mount = (model: ModelStatic<Model>, options?: CrudOptions) => unknown

test('a member that other packages call otherwise gets the name that it has here', (t) => {
  const noop = (): null => null
  const rows = [
    ['fields.name', { fields: { name: { hidden: true } } }, 'hidden', '"exclude"'],
    ['fields.name', { fields: { name: { readOnly: true } } }, 'readOnly', '"exclude"'],
    ['concurrency', { concurrency: { version: 'revision' } }, 'version', '"rowVersion"'],
    ['query', { query: { limit: 5 } }, 'limit', '"pageSize"'],
    ['hooks', { hooks: { beforeDestroy: noop } }, 'beforeDestroy', '"beforeDelete"'],
    ['hooks', { hooks: { afterDestroy: noop } }, 'afterDestroy', '"afterDelete"'],
    ['hooks', { hooks: { beforeSave: noop } }, 'beforeSave', '"beforeCreate" or "beforeUpdate"'],
    ['hooks', { hooks: { afterSave: noop } }, 'afterSave', '"afterCreate" or "afterUpdate"'],
  ] as const
  for (const [place, options, name, meant] of rows) {
    const error = t.throws(() => crudRouter(Player, options as CrudOptions), { code: 'UNKNOWN_OPTION' })
    const expected = `Player: ${place}: the option "${name}" does not exist. Did you mean ${meant}? Valid: `
    t.true(error?.message.startsWith(expected), error?.message)
  }
})

for (const [what, model, options, code, message] of [...ROWS, ...kinds, ...OTHERS]) {
  test(`${what} is ${code} while mounting, by every way to mount`, (t) => {
    const crud = createCrud({})
    const mounts: readonly Mount[] = [crudRouter, crudController, crud.crudRouter, crud.crudController, queryOf]
    for (const mount of mounts) {
      // createCrud takes the options apart before they are checked, and null for none.
      if ((mount === crud.crudRouter || mount === crud.crudController) && (options === null || options === 5)) continue
      const error = t.throws(() => mount(model, options as CrudOptions), { instanceOf: CrudConfigError })
      t.is(error.code, code)
      t.is(error.message, message)
      t.true(error instanceof TypeError)
    }
  })
}

const UNCALLED: readonly (readonly [options: object, name: string, told: string])[] = [
  [{ authorizePolicy: hasRole }, 'authorizePolicy', "hasRole returns a policy. Write hasRole('admin')"],
  [
    { policies: { paid: hasPermission }, deletePolicy: 'paid' },
    'policies',
    "hasPermission returns a policy. Write hasPermission('payroll')",
  ],
  [{ createPolicy: anyOf }, 'createPolicy', 'anyOf returns a policy. Write anyOf(policy, other)'],
  [{ createPolicy: allOf }, 'createPolicy', 'allOf returns a policy. Write allOf(policy, other)'],
  [{ createPolicy: not }, 'createPolicy', 'not returns a policy. Write not(policy)'],
  [
    { identity: jwtIdentity },
    'identity',
    'jwtIdentity returns an identity function. Write jwtIdentity({ key, algorithms })',
  ],
]

test('what makes policies and identity functions is told where it is not called', (t) => {
  const crud = createCrud({})
  const mounts: readonly Mount[] = [crudRouter, crudController, crud.crudRouter, crud.crudController]
  for (const [options, name, told] of UNCALLED) {
    const message = `Player: the option "${name}": ${told}. (INVALID_OPTION)`
    for (const mount of mounts) {
      t.throws(() => mount(Player, options as CrudOptions), { instanceOf: CrudConfigError, message }, name)
    }
  }
  t.throws(() => createCrud({ identity: jwtIdentity } as never as CrudDefaults), {
    message: /^createCrud: the option "identity": jwtIdentity returns an identity function/,
  })
})

test('routes of a relation are INVALID_OPTION in crudController, which makes no router', (t) => {
  const error = t.throws(() => crudController(Team, { relations: { players: { routes: true } } }), {
    instanceOf: CrudConfigError,
    code: 'INVALID_OPTION',
  })
  t.regex(
    error.message,
    /^Team: relations\.players: "routes" is not possible here: a crudController creates no router\./,
  )
  t.notThrows(() => crudController(Team, { relations: { players: { routes: false } } }))
})

test('a default sort that does not parse is INVALID_OPTION and says where', (t) => {
  const error = t.throws(() => crudRouter(Player, { query: { defaultSort: 'Name,,Level' } }), {
    instanceOf: CrudConfigError,
    code: 'INVALID_OPTION',
  })
  t.regex(error.message, /^Player: query\.defaultSort: Expected .* at position 5/)
})

test('a database that this package has no dialect for is UNKNOWN_DIALECT', (t) => {
  const Foreign = class extends Model {}
  const Real = sequelize.define('Real', {})
  Object.assign(Foreign, { getAttributes: () => Real.getAttributes() })
  Object.defineProperty(Foreign, 'sequelize', { value: { getDialect: () => 'mssql' } })
  const error = t.throws(() => crudRouter(Foreign), { instanceOf: CrudConfigError, code: 'UNKNOWN_DIALECT' })
  t.regex(error.message, /the dialect mssql is not supported. Supported: sqlite, mysql, mariadb, postgres\./)
})

const OF_ONE_MODEL = [
  ...[
    'actions',
    'route',
    'keyProperty',
    'configure',
    'fields',
    'computed',
    'flatten',
    'names',
    'relations',
    'scope',
    'singleton',
    'mask',
  ],
  'hooks',
]
const SHARED = Object.keys(optionShape(BEHAVIOURS))
  .filter((name) => !OF_ONE_MODEL.includes(name))
  .join(', ')
  .concat(', io')

const DEFAULTS: readonly (readonly [defaults: unknown, code: ConfigErrorCode, message: string])[] = [
  [{ limit: {} }, 'UNKNOWN_OPTION', `the option "limit" does not exist. Did you mean "limits"? Valid: ${SHARED}.`],
  ...OF_ONE_MODEL.map(
    (name) =>
      [
        { [name]: {} },
        'INVALID_OPTION',
        `the option "${name}" applies to a single model and cannot be a default. Pass it to crudRouter.`,
      ] as const,
  ),
  [
    { operations: ['list'] },
    'UNKNOWN_OPERATION',
    `the operation "list" does not exist. Did you mean "getList"? Valid: ${Object.keys(OPERATIONS).join(', ')}.`,
  ],
  [{ push: { path: '/hub' } }, 'UNKNOWN_OPTION', 'push: the option "path" does not exist. Valid: io, audience.'],
  [{ limits: { bulkItems: 0 } }, 'INVALID_OPTION', 'limits: the option "bulkItems" must be a whole number from 1.'],
  [
    { policies: undefined },
    'INVALID_OPTION',
    'the option "policies" is undefined. Remove the option if you do not need it.',
  ],
  [{ idempotency: 5 }, 'INVALID_OPTION', 'the option "idempotency" must be a boolean or an object.'],
  [{ io: {} }, 'INVALID_OPTION', 'the option "io" must be a Socket.IO server.'],
  [null, 'INVALID_OPTION', 'the options must be an object.'],
  [[], 'INVALID_OPTION', 'the options must be an object.'],
]

for (const [defaults, code, message] of DEFAULTS) {
  test(`createCrud refuses ${JSON.stringify(defaults)} at once, before a resource mounts`, (t) => {
    const error = t.throws(() => Reflect.apply(createCrud, undefined, [defaults]), { instanceOf: CrudConfigError })
    t.is(error.code, code)
    t.is(error.message, `createCrud: ${message} (${code})`)
  })
}

test('createCrud tells of everything that is wrong at once, and takes what is there and undefined for what is not there', (t) => {
  const error = t.throws(() => Reflect.apply(createCrud, undefined, [{ limits: { bulkItem: 1 }, onError: 1 }]))
  t.regex(error?.message ?? '', /createCrud: limits: the option "bulkItem" does not exist/)
  t.regex(error?.message ?? '', /createCrud: the option "onError" must be a function/)
  t.notThrows(() => Reflect.apply(createCrud, undefined, [{ limits: undefined, io: undefined }]))
})

test('options that are there and undefined are options that are not there', (t) => {
  const nothing = {
    route: undefined,
    fields: undefined,
    query: { pageSize: undefined },
    limits: { bulkItems: undefined },
  }
  const { resource } = crudRouter(Player, nothing as unknown as CrudOptions)
  t.is(resource.route, '/api/players')
  t.is(resource.query.pageSize, 20)
  t.is(resource.limits.bulkItems, 1000)
})

test('a field that no query can name is warned of while mounting, once', async (t) => {
  const Odd = sequelize.define('Odd', { '1st': DataTypes.STRING, 'x:y': DataTypes.STRING, fine_1: DataTypes.STRING })
  const warnings: Error[] = []
  const listener = (warning: Error): void => void warnings.push(warning)
  process.on('warning', listener)
  crudRouter(Odd, { fields: { 'x:y': { exclude: 'query' } } })
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', listener)
  const odd = warnings.filter((warning) => Reflect.get(warning, 'code') === 'CRUD_UNNAMEABLE_FIELD')
  t.is(odd.length, 1)
  t.regex(
    odd[0]?.message ?? '',
    /^Odd: clients cannot filter, sort or select by the attribute "1st", because of its name\./,
  )
})

async function warningsOf(code: string, mount: () => unknown): Promise<readonly string[]> {
  const warnings: Error[] = []
  const listener = (warning: Error): void => void warnings.push(warning)
  process.on('warning', listener)
  mount()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', listener)
  return warnings.filter((warning) => Reflect.get(warning, 'code') === code).map(({ message }) => message)
}

test('fields whose names are those of secrets are warned of, unless an option names them', async (t) => {
  const { STRING } = DataTypes
  const names = ['password', 'reset_token', 'APIKey', 'apiKeyHint', 'pin', 'shipping', 'tokenizer', 'hashtag', 'key']
  const attributes = Object.fromEntries(names.map((name) => [name, STRING]))
  const Account = sequelize.define('Account', { ...attributes, monkey: { type: STRING, field: 'password' } })
  const warnings = await warningsOf('CRUD_SENSITIVE_FIELD', () => crudRouter(Account))
  t.deepEqual(warnings, [
    'Account: responses contain fields with names of secrets: "password", "reset_token", "APIKey", "apiKeyHint", "pin". Exclude such a field by fields: { password: { exclude: true } }, ' +
      'restrict it by the option mask, or confirm by fields: { password: {} } that clients may read it.',
  ])
  const some = await warningsOf('CRUD_SENSITIVE_FIELD', () =>
    crudRouter(Account, {
      fields: { password: { exclude: true }, reset_token: {}, APIKey: { exclude: 'list' } },
      mask: { apiKeyHint: 'keys.read' },
    }),
  )
  t.deepEqual(some.length, 1)
  t.regex(some[0] ?? '', /^Account: responses contain fields with names of secrets: "pin"\. /)
  const hidden = await warningsOf('CRUD_SENSITIVE_FIELD', () =>
    crudRouter(sequelize.define('Hidden', { salt: STRING }), { fields: { salt: { only: ['create', 'update'] } } }),
  )
  t.deepEqual(hidden, [])
})

test('options that are right throw nothing', (t) => {
  const { resource } = crudRouter(Player, {
    route: 'gamers',
    keyProperty: 'name',
    operations: ['getList', 'create'],
    use: [(_req, _res, next) => next()],
    configure: () => undefined,
    fields: {
      name: { exclude: 'list', only: ['create', 'response', 'list'], rules: { minLength: 0, match: /^a/ } },
      level: { schema: Joi.number().max(3), filterable: false, sortable: true },
    },
    flatten: ['team', 'meta'],
    names: { create: 'NewGamer' },
    unknownProperties: 'reject',
    relations: { team: { fields: ['name'] } },
    query: { defaultSort: '-Level,Team.Name', defaultDirection: 'desc', pageSize: 5, maxPageSize: 5 },
    limits: { bodySize: 100 },
    onError: () => undefined,
  })
  t.is(resource.route, '/gamers')
  t.is(resource.key.name, 'name')
  t.notThrows(() => crudRouter(Chain, { query: { defaultSort: '-next.next.next.name,nextId' } }))
})

test('a router that threw has mounted nothing: paths of other resources do not ask for its consent', (t) => {
  const A = sequelize.define('A', { name: DataTypes.STRING })
  const B = sequelize.define('B', { name: DataTypes.STRING })
  B.belongsTo(A, { as: 'a', foreignKey: 'aId' })
  const { resource } = crudRouter(B)
  t.throws(
    () =>
      crudRouter(A, {
        configure: () => {
          throw new Error('the host changed its mind')
        },
        concurrency: true,
      }),
    { instanceOf: CrudConfigError, code: 'INVALID_OPTION', message: /^A: configure: the host changed its mind/ },
  )
  t.false('rowVersion' in A.getAttributes())
  t.is((resource as Resource).relations().get('a')?.resolveTarget(), null)
})

test('a host with several wrong options hears of all of them at once, under the code of the first', (t) => {
  const options = {
    rout: 'players',
    keyProperty: 'idd',
    query: { pageSize: 0, defaultSort: 'levle' },
    fields: { levl: { filterable: true }, nmae: { filterable: true } },
    flatten: ['taem'],
    mask: { wage: 'payroll' },
    authorizePolicy: 'nobody',
    operations: ['fetch'],
  }
  const error = t.throws(() => crudRouter(Player, options as never as CrudOptions), { instanceOf: CrudConfigError })
  t.deepEqual(
    error.problems.map(({ code, message }) => `${code} ${/"(\w+)"/.exec(message)?.[1]}`),
    [
      'UNKNOWN_OPTION rout',
      'INVALID_OPTION pageSize',
      'UNKNOWN_POLICY nobody',
      'SDTO011 idd',
      'UNKNOWN_ATTRIBUTE levl',
      'UNKNOWN_ATTRIBUTE nmae',
      'UNKNOWN_OPERATION fetch',
      'UNKNOWN_ATTRIBUTE levle',
      'UNKNOWN_ASSOCIATION taem',
      'UNKNOWN_ATTRIBUTE wage',
    ],
  )
  t.is(error.code, 'UNKNOWN_OPTION')
  t.is(error.message, error.problems.map(({ message }) => message).join('\n'))
})

test('each name among the operations that is none is a problem of its own', (t) => {
  const operations = ['list', 'create', 'get', 'All']
  const error = t.throws(() => crudRouter(Player, { operations } as never as CrudOptions), {
    instanceOf: CrudConfigError,
  })
  t.deepEqual(
    error.problems.map(({ message }) => message.replace(/ Valid:.*/, '')),
    [
      'Player: the operation "list" does not exist. Did you mean "getList"?',
      'Player: the operation "get" does not exist. Did you mean "getById" or "getList"?',
      'Player: "All" is the name of several operations. Set operations: Operations.All, or list the operations one by one.',
    ],
  )
})

test('a mount that throws leaves the model as it was, whatever behaviours wanted of it', (t) => {
  const Plain = sequelize.define('Plain', { name: DataTypes.STRING }, { timestamps: false })
  const before = Object.keys(Plain.getAttributes())
  const behaviours: CrudOptions = { softDelete: true, concurrency: true, audit: true }
  t.throws(() => crudRouter(Plain, { ...behaviours, flatten: ['nothing'] }), { instanceOf: CrudConfigError })
  t.deepEqual(Object.keys(Plain.getAttributes()), before)
  crudRouter(Plain, behaviours)
  t.deepEqual(Object.keys(Plain.getAttributes()), [
    ...before,
    ...['isDeleted', 'deletedAt', 'rowVersion', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy'],
  ])
})

const GUARDS = [
  ...['identity', 'scope', 'mask', 'policies', 'authorizePolicy', 'getByIdPolicy', 'getListPolicy', 'createPolicy'],
  ...['updatePolicy', 'deletePolicy', 'includeDeletedPolicy', 'restorePolicy', 'requirePolicies'],
]

for (const name of GUARDS) {
  test(`${name}: undefined is INVALID_OPTION: the misspelt member of something must not open what it was to close`, (t) => {
    const crud = createCrud({})
    for (const mount of [crudRouter, crudController, crud.crudRouter, crud.crudController]) {
      const error = t.throws(() => mount(Player, { [name]: undefined } as CrudOptions), { instanceOf: CrudConfigError })
      t.is(
        error.message,
        `Player: the option "${name}" is undefined. Remove the option if you do not need it. (INVALID_OPTION)`,
      )
    }
  })
}
