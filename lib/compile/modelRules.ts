import type { ModelAttributeColumnOptions } from 'sequelize'
import type { FieldType, Rules, Says, ValueCheck, ValueType } from '../../types/field.js'
import type { FieldRules } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { NUMBERS } from '../common/values.js'
import { checkOf } from '../sequelize/builtInValidators.js'
import { hasPattern, impliedLength } from './patterns.js'
import { member, type TypedAttribute, valueTypeOf } from './valueType.js'

/** The parts of an attribute in `Model.getAttributes()` that its rules depend on. */
export type RuledAttribute = TypedAttribute &
  Pick<ModelAttributeColumnOptions, 'allowNull' | 'defaultValue' | 'autoIncrement' | 'primaryKey' | 'validate' | 'set'>

/**
 * A model's validator as a rule of the package; `exact` if every value that meets the rule also passes the validator.
 */
interface Derived {
  readonly rules: FieldRules
  readonly exact: boolean
}

const STRINGS: ReadonlySet<FieldType> = new Set(['string'])
const INTEGERS: readonly FieldType[] = ['integer', 'bigint']

const RULE_TYPES: readonly (readonly [rule: keyof FieldRules, types: ReadonlySet<FieldType>, noun: string])[] = [
  ['minLength', STRINGS, 'strings'],
  ['maxLength', STRINGS, 'strings'],
  ['email', STRINGS, 'strings'],
  ['match', STRINGS, 'strings'],
  ['min', NUMBERS, 'numbers'],
  ['max', NUMBERS, 'numbers'],
]

// Shared by most fields.
const REQUIRED: Rules = Object.freeze({ required: true })
const FREE: Rules = Object.freeze({ required: false })

/**
 * The rules of a field: the model's and the options' rules combined, with the tighter bound of each kind. Bounds of the
 * column's type stay in the value type. A text with a pattern always has a maximum length.
 *
 * @throws CrudConfigError if an option is a rule that the field's type does not support
 */
export function rulesOf(attribute: RuledAttribute, valueType: ValueType, options: FieldRules = {}): Rules {
  assertTypes(attribute, valueType, options)
  const isFilled = options.required === false && (attribute.allowNull === false || attribute.primaryKey === true)
  const required = options.required ?? mustBeGiven(attribute)
  const own = validators(attribute)
  if (own.length === 0 && Object.keys(options).length === 0) return required ? REQUIRED : FREE
  const derived = own.map(([name, test]) => ({
    rules: derive(name, test, valueType.type).rules,
    said: messageOf(test),
  }))
  const all = [...derived.map(({ rules }) => rules), options]
  const patterns = [...derived, { rules: options, said: undefined }].flatMap(({ rules, said }) =>
    rules.match === undefined ? [] : [[stateless(rules.match), said] as const],
  )
  const match = patterns.map(([pattern]) => pattern)
  const isPatterned = STRINGS.has(valueType.type) && (match.length > 0 || hasPattern(attribute.validate))
  const bounds = boundsOf(all, isPatterned && valueType.maxLength === undefined)
  return Object.freeze({
    required,
    ...(isFilled ? { filled: true as const } : {}),
    ...bounds,
    ...(all.some((rules) => rules.email === true) ? { email: true } : {}),
    ...(match.length === 0 ? {} : { match: Object.freeze(match) }),
    ...checksOf(attribute, valueType.type),
    ...saysOf(own, derived, bounds, patterns),
  })
}

/** @throws CrudConfigError for a rule that the type does not support */
function assertTypes(attribute: RuledAttribute, { type }: ValueType, options: FieldRules): void {
  for (const [rule, types, noun] of RULE_TYPES) {
    if (options[rule] === undefined || options[rule] === false || types.has(type)) continue
    throw new CrudConfigError(
      'RULE_TYPE',
      `${nameOf(attribute)}: rules.${rule} is for ${noun}, not ${type}. For other types give schema, a Joi schema.`,
    )
  }
}

type Bounds = Pick<Rules, Bound>

/** The tighter bound of each kind. `isImplied` adds a maximum length. */
function boundsOf(all: readonly FieldRules[], isImplied: boolean): Bounds {
  const minLength = tightest(Math.max, all, 'minLength')
  const maxLength = tightest(Math.min, all, 'maxLength') ?? (isImplied ? impliedLength(minLength) : undefined)
  const min = tightest(Math.max, all, 'min')
  const max = tightest(Math.min, all, 'max')
  return {
    ...(minLength === undefined ? {} : { minLength }),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  }
}

/** The types whose values Sequelize's validators receive as bodies contain them. */
const CHECKED: ReadonlySet<FieldType> = new Set([
  ...STRINGS,
  ...NUMBERS,
  ...(['enum', 'uuid', 'date', 'datetime'] satisfies FieldType[]),
])

/** The validators that values in bodies must pass. With a setter only its result is validated. */
function checksOf(attribute: RuledAttribute, type: FieldType): { readonly checks?: readonly ValueCheck[] } {
  if (attribute.set !== undefined || !CHECKED.has(type)) return {}
  const checks = validators(attribute).flatMap(([name, test]) => {
    // A number's `min` and `max` have messages of their own, so isInt and isFloat with bounds are rules.
    const isNumber = NUMBERS.has(type) && BOUNDED.has(name)
    if (isNumber && (name === 'isFloat' || INTEGERS.includes(type))) return []
    const check = checkOf(name, isNumber ? true : test)
    const said = messageOf(test)
    return check === null ? [] : [said === undefined ? check : Object.freeze({ ...check, told: said })]
  })
  return checks.length === 0 ? {} : { checks: Object.freeze(checks) }
}

interface Said {
  readonly rules: FieldRules
  readonly said: string | undefined
}

type Bound = 'minLength' | 'maxLength' | 'min' | 'max'

/** The `msg` of the model's validators, for those whose rule applies. */
function saysOf(
  own: readonly (readonly [string, unknown])[],
  derived: readonly Said[],
  bounds: Bounds,
  patterns: readonly (readonly [RegExp, string | undefined])[],
): { readonly says?: Says } {
  const required = messageOf(own.find(([name]) => name === 'notNull')?.[1])
  const email = derived.find(({ rules, said }) => rules.email === true && said !== undefined)?.said
  const bounded = (Object.keys(bounds) as Bound[]).flatMap((bound) => {
    const said = derived.find(({ rules, said }) => said !== undefined && rules[bound] === bounds[bound])?.said
    return said === undefined ? [] : [[bound, said] as const]
  })
  const match = new Map(patterns.flatMap(([pattern, said]) => (said === undefined ? [] : [[pattern, said] as const])))
  const says: Says = {
    ...(required === undefined ? {} : { required }),
    ...(email === undefined ? {} : { email }),
    ...Object.fromEntries(bounded),
    ...(match.size === 0 ? {} : { match }),
  }
  return Object.keys(says).length === 0 ? {} : { says: Object.freeze(says) }
}

/** The message of a validator's `msg`. */
function messageOf(test: unknown): string | undefined {
  const said = typeof test === 'function' ? undefined : member(test, 'msg')
  return typeof said === 'string' && said !== '' ? said : undefined
}

/** The bounds of the model's `len`, for every type. */
export function lengthsOf(attribute: RuledAttribute): Pick<FieldRules, 'minLength' | 'maxLength'> {
  const len = validators(attribute).find(([name, test]) => name === 'len' && typeof test !== 'function')
  return len === undefined ? {} : lengths(argumentsOf(len[1])).rules
}

/**
 * True if the rules reproduce every validator of the attribute exactly. Then a validated body need not pass Sequelize's
 * validators as well. If in doubt, false.
 */
export function derivesEveryValidator(attribute: RuledAttribute): boolean {
  const own = validators(attribute)
  if (own.length === 0) return true
  // A setter may turn a valid value into an invalid one.
  if (attribute.set !== undefined) return false
  const { type } = valueTypeOf(attribute)
  return own.every(([name, test]) =>
    name === 'notNull' ? attribute.allowNull === false : derive(name, test, type).exact,
  )
}

function validators(attribute: RuledAttribute): (readonly [string, unknown])[] {
  return Object.entries(attribute.validate ?? {})
}

/** Whether the body must have a value: the column is NOT NULL, and neither the database nor Sequelize fills it. */
function mustBeGiven(attribute: RuledAttribute): boolean {
  const isFilled = attribute.autoIncrement === true || member(attribute, '_autoGenerated') === true
  const hasDefault = attribute.defaultValue !== undefined && attribute.defaultValue !== null
  return (attribute.allowNull === false || attribute.primaryKey === true) && !isFilled && !hasDefault
}

const UNKNOWN: Derived = { rules: {}, exact: false }

/**
 * One entry of `validate` as a rule. Only checks with the same result are derived. Sequelize's `isEmail` is stricter,
 * so it runs in addition. Unknown validators are run by Sequelize only.
 */
function derive(name: string, test: unknown, type: FieldType): Derived {
  const known = typeof test === 'function' ? undefined : DERIVED.get(name)
  return known?.types.has(type) === true ? known.derive(argumentsOf(test), test, type) : UNKNOWN
}

interface KnownValidator {
  /** The types of fields that the rule applies to. */
  readonly types: ReadonlySet<FieldType>
  readonly derive: (args: readonly unknown[], test: unknown, type: FieldType) => Derived
}

const PATTERN: KnownValidator = { types: STRINGS, derive: ([source, flags]) => pattern(source, flags) }

const DERIVED: ReadonlyMap<string, KnownValidator> = new Map<string, KnownValidator>([
  ['len', { types: STRINGS, derive: lengths }],
  ['min', { types: NUMBERS, derive: ([min]) => (isBound(min) ? { rules: { min }, exact: true } : UNKNOWN) }],
  ['max', { types: NUMBERS, derive: ([max]) => (isBound(max) ? { rules: { max }, exact: true } : UNKNOWN) }],
  ['is', PATTERN],
  ['regex', PATTERN],
  [
    'isEmail',
    { types: STRINGS, derive: (_, test) => (isBare(test) ? { rules: { email: true }, exact: false } : UNKNOWN) },
  ],
  [
    'isInt',
    {
      types: NUMBERS,
      derive: ([range], test, type) =>
        isBare(test) ? { rules: {}, exact: INTEGERS.includes(type) } : numberRange(range),
    },
  ],
  [
    'isFloat',
    { types: NUMBERS, derive: ([range], test) => (isBare(test) ? { rules: {}, exact: false } : numberRange(range)) },
  ],
])

/** Number validators that accept bounds. */
const BOUNDED: ReadonlySet<string> = new Set(['isInt', 'isFloat'])

function numberRange(settings: unknown): Derived {
  const [min, max] = [member(settings, 'min'), member(settings, 'max')]
  return { rules: { ...(isBound(min) ? { min } : {}), ...(isBound(max) ? { max } : {}) }, exact: false }
}

/** The arguments of a validator as Sequelize reads them: `x`, `[x, y]`, `{ args: x }` or `{ args: [x, y] }`. */
function argumentsOf(test: unknown): readonly unknown[] {
  const args = member(test, 'args') || test
  return Array.isArray(args) ? args : [args]
}

/** True for `true` and `{ msg }`: the validator's default settings. */
function isBare(test: unknown): boolean {
  const args = member(test, 'args')
  return test === true || (member(test, 'msg') !== undefined && (args === undefined || args === true))
}

function isBound(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function lengths(args: readonly unknown[]): Derived {
  const [minLength, maxLength] = args
  if (!isBound(minLength) || args.length > 2) return UNKNOWN
  if (maxLength === undefined) return { rules: { minLength }, exact: true }
  return isBound(maxLength) ? { rules: { minLength, maxLength }, exact: true } : UNKNOWN
}

function pattern(source: unknown, flags: unknown): Derived {
  // A sticky pattern depends on its last match. A rule does not.
  if (source instanceof RegExp) return { rules: { match: source }, exact: !source.sticky }
  if (typeof source !== 'string' || (flags !== undefined && typeof flags !== 'string')) return UNKNOWN
  try {
    const match = new RegExp(source, flags)
    return { rules: { match }, exact: !match.sticky }
  } catch {
    return UNKNOWN
  }
}

/** A copy without the flags that make a pattern stateful. */
function stateless(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
}

function tightest(
  pick: (...bounds: readonly number[]) => number,
  all: readonly FieldRules[],
  name: 'minLength' | 'maxLength' | 'min' | 'max',
): number | undefined {
  const bounds = all.map((rules) => rules[name]).filter(isBound)
  return bounds.length === 0 ? undefined : pick(...bounds)
}

function nameOf(attribute: RuledAttribute): string {
  const model = member(member(attribute, 'Model'), 'name')
  return [model, member(attribute, 'fieldName')].filter((name) => typeof name === 'string').join('.') || 'attribute'
}
