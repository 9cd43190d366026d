import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { OptionShape } from '../../types/check.js'
import type { CrudOptions } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import {
  either,
  flag,
  isArray,
  isFlag,
  isFunction,
  isLength,
  isName,
  isNumber,
  isPath,
  isText,
  oneOf,
  option,
  PATH,
  repeatRow,
} from '../config/checks.js'
import { DEPRECATED } from '../config/deprecated.js'
import { createInheritedError, findInheritedMember } from '../config/inherited.js'
import type { ConfigProblems } from '../config/problems.js'
import { createUnknownNameError } from '../config/suggest.js'
import { suggestCall } from '../identity/policyFactories.js'
import { ACTION, REQUIRED as WHOLE_ACTION } from './actions.js'
import { COMPUTED, REQUIRED } from './computed.js'
import { LIMITS } from './limits.js'
import { MEMBER_TYPES, MEMBERS } from './members.js'
import { isMemberName, MEMBER_NAME } from './names.js'
import { QUERY } from './query.js'

const isHandlers = either(isFunction, (value) => Array.isArray(value) && value.every(isFunction))

const EXPORT: OptionShape = { formulas: option(oneOf('escape', 'keep'), '"escape" or "keep"') }

const OPTIONS: OptionShape = {
  route: option(isPath, PATH),
  routePrefix: option(isPath, PATH),
  keyProperty: option(
    either(isName, (value) => Array.isArray(value) && value.length > 0 && value.every(isName)),
    "an attribute's name or an array of them",
  ),
  operations: option(
    either((value) => typeof value === 'number', isArray),
    'a sum of Operations or an array of names',
  ),
  use: option(isHandlers, 'a request handler or an array of them'),
  configure: option(isFunction, 'a function'),
  fields: option(isObject, 'an object with attributes as keys'),
  computed: option(isObject, 'an object with fields as keys'),
  flatten: option(isArray, 'an array of names'),
  naming: option(either(oneOf('camel', 'attribute'), isFunction), '"camel", "attribute" or a function'),
  names: option(isObject, 'an object with shapes as keys', {
    members: repeatRow(['create', 'update', 'response', 'list', 'query'], option(isName, 'a name')),
  }),
  unknownProperties: option(oneOf('ignore', 'reject'), '"ignore" or "reject"'),
  relations: option(either(isFlag, isObject), 'a boolean or an object with associations as keys'),
  actions: option(isObject, 'an object with actions as keys'),
  query: option(isObject, 'an object', { members: QUERY }),
  export: option(isObject, 'an object', { members: EXPORT }),
  format: option(isFunction, 'a function'),
  limits: option(isObject, 'an object with limits as keys', { members: LIMITS }),
  identity: option(isFunction, 'a function', { isRestrictive: true }),
  onError: option(isFunction, 'a function'),
  messages: option(isFunction, 'a function'),
  namedStatements: flag,
  transaction: option(oneOf('request'), '"request"'),
  serverTiming: option(either(isFlag, isFunction), 'a boolean or a function'),
  toJSON: option(oneOf('ignore'), '"ignore"'),
}

const WORDS = ['create', 'update', 'query', 'response', 'list']
const TARGET_NAMES = WORDS.map((word) => `"${word}"`).join(', ')
const TARGET = oneOf(...WORDS)
const TARGETS = either(TARGET, (value) => Array.isArray(value) && value.every(TARGET))

const RULES: OptionShape = {
  required: flag,
  minLength: option(isLength, 'a whole number from 0'),
  maxLength: option(isLength, 'a whole number from 0'),
  min: option(isNumber, 'a number'),
  max: option(isNumber, 'a number'),
  email: flag,
  match: option((value) => value instanceof RegExp, 'a regular expression'),
}

export const FIELD: OptionShape = {
  exclude: option(
    either((value) => value === true, TARGETS),
    `true, or one or more of ${TARGET_NAMES}`,
  ),
  only: option(TARGETS, `one or more of ${TARGET_NAMES}`),
  rules: option(isObject, 'an object with rules as keys', { members: RULES }),
  schema: option(
    (value) => typeof value === 'object' && value !== null && 'validate' in value && isFunction(value.validate),
    'a joi schema',
  ),
  filterable: flag,
  sortable: flag,
  members: option(isObject, MEMBERS),
  decimal: option(oneOf('string', 'number'), '"string" or "number"'),
  name: option(isMemberName, MEMBER_NAME),
  deprecated: DEPRECATED,
}

/** Returns the accepted options of a resource with these behaviours. */
export function optionShape(behaviours: readonly BehaviourDefinition[]): OptionShape {
  return Object.assign({}, OPTIONS, ...behaviours.map(({ options }) => options))
}

/**
 * Checks that every option is known and has a valid value. Adds errors to `problems` and returns the valid options for
 * the next passes.
 */
export function checkOptions(
  model: string,
  options: CrudOptions,
  shape: OptionShape,
  problems: ConfigProblems,
): CrudOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    problems.add(new CrudConfigError('INVALID_OPTION', `${model}: the options must be an object.`))
    return {}
  }
  const { fields, computed, actions, ...others } = checkMembers(model, options, shape, problems)
  return {
    ...others,
    ...(fields === undefined ? {} : { fields: checkEntries(`${model}: fields`, fields, FIELD, problems) }),
    ...(actions === undefined ? {} : { actions: checkActions(`${model}: actions`, actions, problems) }),
    ...(computed === undefined ? {} : { computed: checkComputed(`${model}: computed`, computed, problems) }),
  }
}

/** Returns the entries of an option by name, each with its valid members only. */
function checkEntries(
  option: string,
  given: object,
  shape: OptionShape,
  problems: ConfigProblems,
): Readonly<Record<string, object>> {
  const sound = Object.entries(given).flatMap(([name, entry]: [string, unknown]) => {
    const where = `${option}.${name}`
    if (isObject(entry)) return [[name, checkMembers(where, entry, shape, problems)] as const]
    problems.add(new CrudConfigError('INVALID_OPTION', `${where} must be an object.`))
    return []
  })
  return Object.fromEntries(sound)
}

/** Returns the definitions of computed fields that have all required members. */
function checkComputed(
  option: string,
  given: NonNullable<CrudOptions['computed']>,
  problems: ConfigProblems,
): NonNullable<CrudOptions['computed']> {
  const sound = checkEntries(option, given, COMPUTED, problems)
  const complete = Object.entries(given).filter(([name, definition]) => {
    const own = sound[name]
    if (own === undefined) return false
    const where = `${option}.${name}`
    for (const member of REQUIRED.filter((each) => Reflect.get(definition, each) === undefined)) {
      problems.add(new CrudConfigError('INVALID_OPTION', `${where}: the option "${member}" is missing.`))
    }
    const isTyped = !('type' in own) || MEMBER_TYPES.includes(String(own.type))
    if (!isTyped) {
      problems.add(
        createUnknownNameError('INVALID_OPTION', `${where}: the type`, String(definition.type), MEMBER_TYPES),
      )
    }
    const isValidMember = ([member, value]: [string, unknown]): boolean =>
      value === undefined || Object.hasOwn(own, member)
    return isTyped && REQUIRED.every((member) => member in own) && Object.entries(definition).every(isValidMember)
  })
  return Object.fromEntries(complete)
}

/** Returns the actions that have all required members. */
function checkActions(
  option: string,
  given: NonNullable<CrudOptions['actions']>,
  problems: ConfigProblems,
): NonNullable<CrudOptions['actions']> {
  const sound = checkEntries(option, given, ACTION, problems)
  const complete = Object.entries(given).filter(([name, action]) => {
    const own = sound[name]
    if (own === undefined) return false
    for (const member of WHOLE_ACTION.filter((each) => action[each] === undefined)) {
      const message = `${option}.${name}: the option "${member}" is missing: it must be ${ACTION[member]?.expected}.`
      problems.add(new CrudConfigError('INVALID_OPTION', message))
    }
    const isValidMember = ([member, value]: [string, unknown]): boolean =>
      value === undefined || Object.hasOwn(own, member)
    return WHOLE_ACTION.every((member) => member in own) && Object.entries(action).every(isValidMember)
  })
  return Object.fromEntries(complete)
}

/** Returns the valid members of an options object. `where` names the model and the option in messages. */
function checkMembers<T extends object>(
  where: string,
  given: T,
  shape: OptionShape,
  problems: ConfigProblems,
): Partial<T> {
  const inherited = findInheritedMember(given)
  if (inherited !== null) {
    problems.add(createInheritedError(where, inherited))
    return {}
  }
  const sound = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    const row = Object.hasOwn(shape, name) ? shape[name] : undefined
    const wrong = findMemberErrors(where, name, value, row, shape)
    for (const problem of wrong ?? []) problems.add(problem)
    if (row === undefined || wrong !== null) return []
    const maker = suggestCall(value) ?? (name === 'policies' ? findUncalledPolicy(value) : null)
    if (maker !== null) problems.add(new CrudConfigError('INVALID_OPTION', `${where}: the option "${name}": ${maker}.`))
    const isDeeper = row.members !== undefined && typeof value === 'object' && value !== null
    return [[name, isDeeper ? checkMembers(memberPathOf(where, name), value, row.members ?? {}, problems) : value]]
  })
  return Object.fromEntries(sound) as Partial<T>
}

/** Returns the errors of a member: null for a valid member, an empty list for a member to drop silently. */
function findMemberErrors(
  where: string,
  name: string,
  value: unknown,
  row: OptionShape[string] | undefined,
  shape: OptionShape,
): readonly CrudConfigError[] | null {
  if (row === undefined) {
    return [
      createUnknownNameError(
        'UNKNOWN_OPTION',
        `${where}: the option`,
        name,
        Object.keys(shape),
        suggestOptions(name, shape),
      ),
    ]
  }
  if (value === undefined) {
    // An undefined value usually comes from a misspelt name. If it were ignored, the resource would lose its
    // protection.
    const hint = `${where}: the option "${name}" is undefined. Remove the option if you do not need it.`
    return row.isRestrictive ? [new CrudConfigError('INVALID_OPTION', hint)] : []
  }
  if (!row.check(value)) {
    return [new CrudConfigError('INVALID_OPTION', `${where}: the option "${name}" must be ${row.expected}.`)]
  }
  const inherited =
    row.members === undefined && row.check({}) ? findInheritedMembers(memberPathOf(where, name), value) : []
  return inherited.length === 0 ? null : inherited
}

/** Returns errors for inherited members of an object by name (`fields`, `mask`), and of its entries. */
function findInheritedMembers(where: string, value: unknown): readonly CrudConfigError[] {
  if (!isObject(value)) return []
  const all = [
    [where, value] as const,
    ...Object.entries(value).map(([name, each]) => [`${where}.${name}`, each] as const),
  ]
  return all.flatMap(([place, each]) => {
    const inherited = isObject(each) ? findInheritedMember(each) : null
    return inherited === null ? [] : [createInheritedError(place, inherited)]
  })
}

function findUncalledPolicy(policies: unknown): string | null {
  return Object.values(Object(policies)).map(suggestCall).find(isText) ?? null
}

/** Common names of options in other packages, each with the corresponding options of this package. */
const ALIASES: ReadonlyMap<string, readonly string[]> = new Map([
  ['path', ['route']],
  ['basepath', ['routePrefix']],
  ['prefix', ['routePrefix']],
  ['readpolicy', ['getByIdPolicy', 'getListPolicy']],
  ['getpolicy', ['getByIdPolicy', 'getListPolicy']],
  ['listpolicy', ['getListPolicy']],
  ['writepolicy', ['createPolicy', 'updatePolicy', 'deletePolicy']],
  ['policy', ['authorizePolicy']],
  ['auth', ['identity', 'authorizePolicy']],
  ['middleware', ['use']],
  ['where', ['scope']],
  ['include', ['relations', 'flatten']],
  ['attributes', ['fields']],
  ['exclude', ['fields']],
  ['hidden', ['exclude', 'fields']],
  ['readonly', ['exclude', 'operations']],
  ['paranoid', ['softDelete']],
  ['version', ['rowVersion', 'concurrency']],
  ['versions', ['concurrency']],
  ['limit', ['pageSize']],
  // Hooks of Sequelize.
  ['beforedestroy', ['beforeDelete']],
  ['afterdestroy', ['afterDelete']],
  ['beforesave', ['beforeCreate', 'beforeUpdate']],
  ['aftersave', ['afterCreate', 'afterUpdate']],
])

/** Options whose members are often written at the top level. */
const GROUPS = ['query', 'limits', 'export', 'push']

function suggestOptions(name: string, shape: OptionShape): readonly string[] {
  const known = (ALIASES.get(name.toLowerCase()) ?? []).filter((alias) => Object.hasOwn(shape, alias))
  if (known.length > 0) return known
  return GROUPS.filter((group) => Object.hasOwn(shape[group]?.members ?? {}, name)).map((group) => `${group}.${name}`)
}

/** Returns the path of a member in messages: `Player: query`, and within an option `Player: fields.name.rules`. */
function memberPathOf(where: string, name: string): string {
  return where + (where.includes(': ') ? '.' : ': ') + name
}
