import type { Association, Model, ModelStatic } from 'sequelize'
import type { CrudOptions, RelationOption } from '../../types/options.js'
import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { isArray, isFlag, isFunction } from '../config/checks.js'
import { unknownName } from '../config/suggest.js'
import type { OperationTable } from '../operations.js'
import { pointsAt } from '../sequelize/model.js'
import { camelCase } from './names.js'
import { carried } from './speaker.js'

/** What relations are held against beside their model. */
interface Surroundings {
  readonly operations: OperationTable
  /** Why there can be no routes below a record's; null where there can. */
  readonly routeless: string | null
}

/** Pass: associations that the options name must be there. @throws CrudConfigError for those that are not */
export function checkRelations(model: ModelStatic<Model>, options: CrudOptions, surroundings: Surroundings): void {
  if (typeof options.relations !== 'object') return
  for (const [name, option] of Object.entries(options.relations)) {
    const association = Object.hasOwn(model.associations, name) ? model.associations[name] : undefined
    if (association === undefined) {
      throw unknownName(
        'UNKNOWN_ASSOCIATION',
        `${model.name}: relations: the association`,
        name,
        Object.keys(model.associations),
      )
    }
    checkRelation(`${model.name}: relations`, association, option, surroundings)
  }
}

type Refuse = (why: string) => CrudConfigError

/** What is neither on, off nor an object that says something must not pass for on. */
function checkRelation(
  where: string,
  association: Association,
  option: unknown,
  { operations, routeless }: Surroundings,
): void {
  if (option === undefined || typeof option === 'boolean') return
  const { as: name } = association
  const refuse: Refuse = (why) => new CrudConfigError('INVALID_OPTION', `${where}.${name}: ${why}.`)
  if (typeof option !== 'object' || option === null || isArray(option) || Object.keys(option).length === 0) {
    const what = 'a boolean, an object with the array of names "fields", or one with "routes" or "write"'
    throw new CrudConfigError('INVALID_OPTION', `${where}: the option "${name}" must be ${what}.`)
  }
  checkMembers(`${where}.${name}`, option)
  const { fields, routes = false, write = false, resource }: Members = option
  if (fields !== undefined) {
    if (routes || write || resource !== undefined) throw refuse('"fields" is for paths alone')
    assertAttributes(`${where}.${name}`, association, fields)
  }
  if (resource !== undefined && !('routes' in option || 'write' in option)) {
    throw refuse('"resource" is for "routes" and "write"')
  }
  if (write && pointsAt(association)) throw refuse('"write" is for children, and a belongsTo leads to none')
  if (!routes) return
  assertFree(association, operations, refuse)
  if (routeless !== null) throw refuse(`"routes" cannot be: ${routeless}`)
}

interface Members {
  readonly fields?: readonly string[]
  readonly routes?: boolean
  readonly write?: boolean
  readonly resource?: unknown
}

const MEMBERS: ReadonlyMap<string, readonly [check: (value: unknown) => boolean, what: string]> = new Map([
  ['fields', [isArray, 'an array of names']],
  ['routes', [isFlag, 'a boolean']],
  ['write', [isFlag, 'a boolean']],
  ['resource', [(value) => isFunction(value) || carried(value) !== null, 'a router, or a function that gives one']],
])

function checkMembers(where: string, option: object): void {
  for (const [member, value] of Object.entries(option)) {
    const row = MEMBERS.get(member)
    if (row === undefined) throw unknownName('UNKNOWN_OPTION', `${where}: the option`, member, MEMBERS.keys())
    const [check, what] = row
    if (!check(value)) {
      throw new CrudConfigError('INVALID_OPTION', `${where}: the option "${member}" must be ${what}.`)
    }
  }
}

function assertAttributes(where: string, { target }: Association, fields: readonly string[]): void {
  const attributes = Object.keys(target.getAttributes())
  const unknown = fields.find((field) => !attributes.includes(field))
  if (unknown !== undefined) throw unknownName('UNKNOWN_ATTRIBUTE', `${where}: the attribute`, unknown, attributes)
}

/** The word of a route must be its own: routes are matched in any case. */
function assertFree({ source, as }: Association, operations: OperationTable, refuse: Refuse): void {
  const word = camelCase(as)
  const taken = new Set(Object.values(operations).flatMap(({ path }) => path.toLowerCase().split('/')))
  if (taken.has(word.toLowerCase())) {
    throw refuse(`"routes" cannot be: "${word}" is the route of an operation. Give the association another name`)
  }
  const isSame = (other: string): boolean => other !== as && camelCase(other).toLowerCase() === word.toLowerCase()
  const other = Object.keys(source.associations).find(isSame)
  if (other !== undefined) throw refuse(`"routes" cannot be: "${other}" would have the same route`)
}

/** The relations that have routes; single records behind them those that a table links. */
export function nestedOf({ associations }: ModelStatic<Model>, { relations }: CrudOptions): Resource['nested'] {
  if (typeof relations !== 'object') return []
  return Object.entries(relations).flatMap(([name, option]) => {
    if (typeof option !== 'object' || option.routes !== true) return []
    return [{ json: camelCase(name), items: associations[name]?.associationType === 'BelongsToMany' }]
  })
}

/** The members of bodies that may hold records of others. */
export function holdsOf({ relations }: CrudOptions): Resource['holds'] {
  if (typeof relations !== 'object') return []
  return Object.entries(relations).flatMap(([name, option]) =>
    typeof option === 'object' && option.write === true ? [camelCase(name)] : [],
  )
}

/** What the options say of an association. */
export function optionFor(relations: CrudOptions['relations'], name: string): RelationOption {
  if (typeof relations !== 'object') return relations ?? true
  return Object.hasOwn(relations, name) ? (relations[name] ?? true) : true
}
