import type { ObjectSchema, Schema, ValidationOptions } from 'joi'
import type { Model, ModelStatic } from 'sequelize'
import type { Action, ActionOptions, InputVerdict } from '../../types/action.js'
import type { OptionShape } from '../../types/check.js'
import type { CrudOptions } from '../../types/options.js'
import type { Facts } from '../../types/resource.js'
import { equivalentOperation } from '../common/actions.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { either, flag, isFunction, isName, oneOf, option } from '../config/checks.js'
import type { ConfigProblems } from '../config/problems.js'
import type { OperationTable } from '../operations.js'
import { kebabCase } from './names.js'
import type { Naming } from './naming.js'
import { nestedRoutesOf } from './relationOptions.js'

const isSchema = (value: unknown): value is Schema =>
  isObject(value) && 'validateAsync' in value && isFunction(value.validateAsync)

const isObjectSchema = (value: unknown): boolean => isSchema(value) && value.type === 'object'

const OUTPUTS = ['record', 'list', 'none'] as const

/** The members of each action. */
export const ACTION: OptionShape = {
  on: option(oneOf('record', 'collection'), '"record" or "collection"'),
  method: option(oneOf('post', 'get'), '"post" or "get"'),
  policy: option(either(isFunction, isName), 'a policy or the name of one', { isRestrictive: true }),
  input: option(isObjectSchema, 'a joi schema of an object', { isRestrictive: true }),
  output: option(either(oneOf(...OUTPUTS), isSchema), '"record", "list", "none" or a joi schema', {
    isRestrictive: true,
  }),
  transaction: flag,
  handler: option(isFunction, 'a function'),
}

/** The required members of an action. */
export const REQUIRED = ['on', 'method', 'handler'] as const

/**
 * Action names are used in paths, documents and the typed client. `then` is refused, because JavaScript treats an
 * object with a `then` method as a promise.
 */
const isActionName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && name !== 'then'

/** Facts about the resource that the checks of actions need. */
interface ActionFacts {
  readonly operations: OperationTable
  readonly naming: Naming
  readonly facts: Facts
}

/** Compiles the actions of a resource, by name. Adds errors to `problems`. */
export function createActions(
  model: ModelStatic<Model>,
  options: CrudOptions,
  surroundings: ActionFacts,
  problems: ConfigProblems,
): ReadonlyMap<string, Action> {
  const actions = new Map<string, Action>()
  const places = new Map<string, string>()
  for (const [name, each] of Object.entries(options.actions ?? {})) {
    const action = problems.attempt(() => {
      assertAction(model, options, name, each, surroundings)
      return createAction(name, each, options.singleton !== undefined)
    })
    if (action === undefined) continue
    const place = action.path.toLowerCase()
    const other = places.get(place)
    if (other !== undefined)
      problems.add(
        createActionError(model.name, name, `has the same route as the action "${other}". Rename one of them`),
      )
    places.set(place, name)
    actions.set(name, action)
  }
  return actions
}

function createActionError(model: string, name: string, why: string): CrudConfigError {
  return new CrudConfigError('INVALID_OPTION', `${model}: the action "${name}" ${why}.`)
}

/**
 * Checks the name and the members of an action. @throws CrudConfigError for a taken name, and for members that
 * contradict each other
 */
function assertAction(
  model: ModelStatic<Model>,
  options: CrudOptions,
  name: string,
  action: ActionOptions,
  { operations, naming, facts }: ActionFacts,
): void {
  const createError = (why: string): CrudConfigError => createActionError(model.name, name, why)
  if (!isActionName(name)) {
    throw createError('must have a name of letters, digits and "_" that begins with a letter, and is not "then"')
  }
  const word = kebabCase(name)
  const taken = reservedActionNames(operations)
  if (taken.has(word) || taken.has(name.toLowerCase()))
    throw createError('must not have the name of an operation or of a route of an operation')
  const relation = nestedRoutesOf(model, options, naming).find(({ json }) => json.toLowerCase() === word)
  if (relation !== undefined) throw createError('must not have the name of the route of a relation')
  const { on, method, transaction, input, output } = action
  if (on === 'collection' && options.singleton !== undefined) {
    throw createError('must have on: "record", because a singleton is a single record')
  }
  if (method === 'get' && transaction === true)
    throw createError('cannot have a transaction: GET actions write nothing')
  if (method === 'post' && transaction === false && (facts.versions || facts.idempotency !== null)) {
    const needs = facts.versions ? 'concurrency' : 'idempotency'
    throw createError(`cannot have "transaction: false", because the option ${needs} needs a transaction`)
  }
  if (method === 'get' && input !== undefined && outputOf(action) !== 'none' && !isSchema(output)) {
    const isTaken = inputNamesOf(input)?.has('select') === true
    if (isTaken)
      throw createError(
        'cannot have an input named "select", because the parameter "select" chooses the fields of the response',
      )
  }
}

/** Returns the names that actions cannot use: the words of routes and the names of operations, in lower case. */
function reservedActionNames(operations: OperationTable): ReadonlySet<string> {
  const paths = Object.values(operations).flatMap(({ path }) => path.toLowerCase().split('/'))
  return new Set([...Object.keys(operations).map((name) => name.toLowerCase()), ...paths])
}

/** Compiles one action. A record action of a singleton has no key in its path. */
function createAction(name: string, action: ActionOptions, isSingleton: boolean): Action {
  const { on, method, input = null, output, transaction = true } = action
  const value = isSchema(output) ? output : null
  const kind = outputOf(action)
  return Object.freeze<Action>({
    name,
    on,
    method,
    path: `${on === 'record' && !isSingleton ? '/:id' : ''}/${kebabCase(name)}`,
    operation: equivalentOperation(action),
    status: kind === 'none' ? 204 : 200,
    output: kind,
    isTransactional: method === 'post' && transaction,
    input,
    inputNames: input === null ? new Set<string>() : inputNamesOf(input),
    arrayNames: input === null ? new Set<string>() : listInputsOf(input),
    outputSchema: value,
    validateInput: input === null ? readNoInput : (given) => validateInput(input, given),
    serializeOutput: (given) => (value === null ? Promise.resolve(given) : validateOutput(value, name, given)),
    // Called by reflection, because the type of `record` in a handler depends on `on`.
    handler: (context) => Reflect.apply(action.handler, action, [context]),
  })
}

function outputOf({ on, method, output }: ActionOptions): Action['output'] {
  if (isSchema(output)) return 'value'
  if (output !== undefined) return output
  if (on === 'record') return 'record'
  return method === 'get' ? 'list' : 'none'
}

/** Reports all errors. Messages omit the member's name, because errors are listed by name. */
const SETTINGS: ValidationOptions = { abortEarly: false, errors: { label: false, wrap: { label: false } } }

async function readNoInput(): Promise<InputVerdict> {
  return { value: undefined }
}

/**
 * Validates the input of an action by the schema's own method. The host's joi may be another copy, and its rules may be
 * asynchronous.
 */
async function validateInput(schema: ObjectSchema, given: Readonly<Record<string, unknown>>): Promise<InputVerdict> {
  try {
    return { value: await schema.validateAsync(given, SETTINGS) }
  } catch (error) {
    const details = detailsOf(error)
    if (details === null) throw error
    const errors = new Map<string, string[]>()
    for (const { path, message } of details) {
      const name = pathTextOf(path)
      errors.set(name, [...(errors.get(name) ?? []), message])
    }
    return { errors: Object.fromEntries(errors) }
  }
}

async function validateOutput(schema: Schema, name: string, given: unknown): Promise<unknown> {
  try {
    return await schema.validateAsync(given, SETTINGS)
  } catch (error) {
    const details = detailsOf(error)
    if (details === null) throw error
    const [{ path, message } = { path: [], message: '' }] = details
    const place = pathTextOf(path)
    const reason = place === '' ? message : `${place} ${message}`
    throw new TypeError(`the action "${name}" returned a value that its option "output" does not allow: ${reason}`, {
      cause: error,
    })
  }
}

interface Detail {
  readonly path: readonly (string | number)[]
  readonly message: string
}

function detailsOf(error: unknown): readonly Detail[] | null {
  const { isJoi, details } = Object(error) as { isJoi?: unknown; details?: readonly Detail[] }
  return isJoi === true && Array.isArray(details) ? details : null
}

function pathTextOf(path: Detail['path']): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

/** The parts of joi's schema description that this file reads. */
interface SchemaDescription {
  readonly keys?: Readonly<Record<string, { readonly type?: string }>>
  readonly flags?: { readonly unknown?: boolean }
  readonly patterns?: readonly unknown[]
}

/** Returns the names of the schema's members; null for a schema that accepts any name. */
function inputNamesOf(schema: ObjectSchema): ReadonlySet<string> | null {
  const { keys, flags, patterns }: SchemaDescription = schema.describe()
  const isOpen = keys === undefined || flags?.unknown === true || patterns !== undefined
  return isOpen ? null : new Set(Object.keys(keys))
}

function listInputsOf(schema: ObjectSchema): ReadonlySet<string> {
  const { keys = {} }: SchemaDescription = schema.describe()
  return new Set(Object.entries(keys).flatMap(([name, { type }]) => (type === 'array' ? [name] : [])))
}
