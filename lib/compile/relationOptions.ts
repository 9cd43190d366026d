import type { Association, Model, ModelStatic } from 'sequelize'
import type { CrudOptions, RelationOption } from '../../types/options.js'
import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { isArray, isFlag, isFunction } from '../config/checks.js'
import { createUnknownNameError } from '../config/suggest.js'
import type { OperationTable } from '../operations.js'
import { hasSourceForeignKey } from '../sequelize/model.js'
import { createCountField } from './countField.js'
import { isMemberName, MEMBER_NAME } from './names.js'
import type { Naming } from './naming.js'
import { resourceOfRouter } from './relatedResource.js'

/** Facts about the resource that the checks of relations need. */
interface RelationFacts {
  readonly naming: Naming
  readonly operations: OperationTable
  /** The reason why there are no routes below a record; null if there are. */
  readonly noRoutesReason: string | null
}

/** Checks the options of relations. @throws CrudConfigError for unknown associations and invalid options */
export function checkRelations(model: ModelStatic<Model>, options: CrudOptions, surroundings: RelationFacts): void {
  for (const [name, option] of Object.entries(typeof options.relations === 'object' ? options.relations : {})) {
    const association = Object.hasOwn(model.associations, name) ? model.associations[name] : undefined
    if (association === undefined) {
      throw createUnknownNameError(
        'UNKNOWN_ASSOCIATION',
        `${model.name}: relations: the association`,
        name,
        Object.keys(model.associations),
      )
    }
    checkRelation(`${model.name}: relations`, association, option, surroundings)
  }
  assertDistinctAssociations(model, surroundings.naming)
  assertCountNames(model, options, surroundings.naming)
}

/** Checks that API names of associations are unique. Case is ignored, as in requests. */
function assertDistinctAssociations({ name: model, associations }: ModelStatic<Model>, { relation }: Naming): void {
  const seen = new Map<string, string>()
  for (const name of Object.keys(associations)) {
    const json = relation(name)
    const other = seen.get(json.toLowerCase())
    if (other !== undefined) {
      throw new CrudConfigError(
        'AMBIGUOUS_NAME',
        `${model}: the associations "${other}" and "${name}" are both "${json}" in responses. Give one of them another name in relations.`,
      )
    }
    seen.set(json.toLowerCase(), name)
  }
}

/** Checks that no association has the name of a collection's count, because responses have the count as a member. */
function assertCountNames(model: ModelStatic<Model>, { relations }: CrudOptions, { relation }: Naming): void {
  const open = Object.values(model.associations).filter(({ as: name }) => relationOptionOf(relations, name) !== false)
  const named = new Map(open.map(({ as: name }) => [relation(name).toLowerCase(), name]))
  for (const { as: name, isMultiAssociation } of open) {
    const { json } = createCountField(relation(name))
    const other = isMultiAssociation ? named.get(json.toLowerCase()) : undefined
    if (other === undefined) continue
    throw new CrudConfigError(
      'AMBIGUOUS_NAME',
      `${model.name}: the association "${other}" and the number of "${name}" are both "${json}" in responses. Give one of them another name in relations.`,
    )
  }
}

type CreateError = (why: string) => CrudConfigError

/** Checks the option of one association, so that an invalid value does not count as `true`. */
function checkRelation(where: string, association: Association, option: unknown, surroundings: RelationFacts): void {
  if (option === undefined || typeof option === 'boolean') return
  const { as: name } = association
  const createError: CreateError = (why) => new CrudConfigError('INVALID_OPTION', `${where}.${name}: ${why}.`)
  if (!isNonEmptyObject(option)) {
    const what = 'a boolean, an object with the array of names "fields", or one with "routes" or "write"'
    throw new CrudConfigError('INVALID_OPTION', `${where}: the option "${name}" must be ${what}.`)
  }
  checkMembers(`${where}.${name}`, option)
  const { fields, routes = false, write = false, resource }: RelationMembers = option
  if (fields !== undefined) {
    if (routes || write || resource !== undefined)
      throw createError('"fields" cannot be combined with "routes", "write" or "resource"')
    assertAttributes(`${where}.${name}`, association, fields)
  }
  if (resource !== undefined && !('routes' in option || 'write' in option)) {
    throw createError('"resource" needs "routes" or "write"')
  }
  if (write && hasSourceForeignKey(association))
    throw createError('"write" is not possible for a belongsTo association, whose target is a parent')
  if (!routes) return
  assertFreeSegment(association, surroundings, createError)
  const { noRoutesReason } = surroundings
  if (noRoutesReason !== null) throw createError(`"routes" is not possible here: ${noRoutesReason}`)
}

function isNonEmptyObject(option: unknown): option is object {
  return typeof option === 'object' && option !== null && !isArray(option) && Object.keys(option).length > 0
}

interface RelationMembers {
  readonly fields?: readonly string[]
  readonly routes?: boolean
  readonly write?: boolean
  readonly resource?: unknown
}

const MEMBERS: ReadonlyMap<string, readonly [check: (value: unknown) => boolean, what: string]> = new Map([
  ['fields', [isArray, 'an array of names']],
  ['routes', [isFlag, 'a boolean']],
  ['write', [isFlag, 'a boolean']],
  [
    'resource',
    [(value) => isFunction(value) || resourceOfRouter(value) !== null, 'a router, or a function that returns one'],
  ],
  ['name', [isMemberName, MEMBER_NAME]],
])

function checkMembers(where: string, option: object): void {
  for (const [member, value] of Object.entries(option)) {
    const row = MEMBERS.get(member)
    if (row === undefined)
      throw createUnknownNameError('UNKNOWN_OPTION', `${where}: the option`, member, MEMBERS.keys())
    const [check, what] = row
    if (!check(value)) {
      throw new CrudConfigError('INVALID_OPTION', `${where}: the option "${member}" must be ${what}.`)
    }
  }
}

function assertAttributes(where: string, { target }: Association, fields: readonly string[]): void {
  const attributes = Object.keys(target.getAttributes())
  const unknown = fields.find((field) => !attributes.includes(field))
  if (unknown !== undefined)
    throw createUnknownNameError('UNKNOWN_ATTRIBUTE', `${where}: the attribute`, unknown, attributes)
}

/** Checks that the path segment of a nested route is free. Routes are case-insensitive. */
function assertFreeSegment(
  { source, as }: Association,
  { operations, naming }: RelationFacts,
  refuse: CreateError,
): void {
  const word = naming.relation(as)
  const taken = new Set(Object.values(operations).flatMap(({ path }) => path.toLowerCase().split('/')))
  if (taken.has(word.toLowerCase())) {
    throw refuse(
      `"routes" is not possible here: "${word}" is the route of an operation. Give the association another name`,
    )
  }
  const hasSameRoute = (other: string): boolean =>
    other !== as && naming.relation(other).toLowerCase() === word.toLowerCase()
  const other = Object.keys(source.associations).find(hasSameRoute)
  if (other !== undefined) {
    throw refuse(
      `"routes" is not possible here: the association "${other}" would have the same route, because routes ignore case. Set "name" to another name`,
    )
  }
}

/** Returns the relations with routes. Only many-to-many relations have routes of single records. */
export function nestedRoutesOf(
  { associations }: ModelStatic<Model>,
  { relations }: CrudOptions,
  naming: Naming,
): Resource['nested'] {
  if (typeof relations !== 'object') return []
  return Object.entries(relations).flatMap(([name, option]) => {
    if (typeof option !== 'object' || option.routes !== true) return []
    return [{ json: naming.relation(name), items: associations[name]?.associationType === 'BelongsToMany' }]
  })
}

/** Returns the body members that may contain related records. */
export function nestedRelationsOf({ relations }: CrudOptions, naming: Naming): Resource['nestedRelations'] {
  if (typeof relations !== 'object') return []
  return Object.entries(relations).flatMap(([name, option]) =>
    typeof option === 'object' && option.write === true ? [naming.relation(name)] : [],
  )
}

export function relationOptionOf(relations: CrudOptions['relations'], name: string): RelationOption {
  if (typeof relations !== 'object') return relations ?? true
  return Object.hasOwn(relations, name) ? (relations[name] ?? true) : true
}
