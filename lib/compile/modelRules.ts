import type { ModelAttributeColumnOptions } from 'sequelize'
import type { FieldType, Rules, Says, ValueCheck, ValueType } from '../../types/field.js'
import type { FieldRules } from '../../types/options.js'
import { CrudConfigError } from '../common/errors.js'
import { NUMBERS } from '../common/values.js'
import { checkOf } from '../sequelize/builtInValidators.js'
import { hasPattern, impliedLength } from './patterns.js'
import { member, type TypedAttribute, valueTypeOf } from './valueType.js'

/** What of an attribute, as `Model.getAttributes()` has it, makes its rules. */
export type RuledAttribute = TypedAttribute &
  Pick<ModelAttributeColumnOptions, 'allowNull' | 'defaultValue' | 'autoIncrement' | 'primaryKey' | 'validate' | 'set'>

/** A model's validator as a rule of ours; `exact` when whatever meets the rule also meets the validator. */
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

// Those of most fields, made once.
const REQUIRED: Rules = Object.freeze({ required: true })
const FREE: Rules = Object.freeze({ required: false })

/**
 * The rules of a field: those of the model's attribute and those of the options, both in force, the tighter bound of
 * each kind. Bounds that the column's type sets stay in the value type. A text that has a pattern has a bound as well.
 *
 * @throws CrudConfigError when the options give a rule that the field's type cannot have
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

/** @throws CrudConfigError for a rule that the type cannot have */
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

/** The tighter bound of each kind. Texts that `isImplied` have an upper one in any case. */
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

/** The types whose values Sequelize's validators see as they are read from bodies. */
const CHECKED: ReadonlySet<FieldType> = new Set([
  ...STRINGS,
  ...NUMBERS,
  ...(['enum', 'uuid', 'date', 'datetime'] satisfies FieldType[]),
])

/** The validators that values in bodies meet. With a setter, only its result meets them. */
function checksOf(attribute: RuledAttribute, type: FieldType): { readonly checks?: readonly ValueCheck[] } {
  if (attribute.set !== undefined || !CHECKED.has(type)) return {}
  const checks = validators(attribute).flatMap(([name, test]) => {
    // The rules `min` and `max` of a number have messages of their own for isInt and isFloat.
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

/** What validators say by a `msg` of their own, as far as theirs is the rule that counts. */
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

/** A validator's own message. */
function messageOf(test: unknown): string | undefined {
  const said = typeof test === 'function' ? undefined : member(test, 'msg')
  return typeof said === 'string' && said !== '' ? said : undefined
}

/** The bounds that the model's own `len` sets, whatever the type. */
export function lengthsOf(attribute: RuledAttribute): Pick<FieldRules, 'minLength' | 'maxLength'> {
  const len = validators(attribute).find(([name, test]) => name === 'len' && typeof test !== 'function')
  return len === undefined ? {} : lengths(argumentsOf(len[1])).rules
}

/**
 * True when every validator of the attribute is one that the rules reproduce exactly, so that a value that passed the
 * body's validation need not meet Sequelize's own. When in doubt, false.
 */
export function derivesEveryValidator(attribute: RuledAttribute): boolean {
  const own = validators(attribute)
  if (own.length === 0) return true
  // A setter may turn a valid value into another one.
  if (attribute.set !== undefined) return false
  const { type } = valueTypeOf(attribute)
  return own.every(([name, test]) =>
    name === 'notNull' ? attribute.allowNull === false : derive(name, test, type).exact,
  )
}

function validators(attribute: RuledAttribute): (readonly [string, unknown])[] {
  return Object.entries(attribute.validate ?? {})
}

/** Without a value of its own the column would have none: not for what the database or Sequelize itself fills in. */
function mustBeGiven(attribute: RuledAttribute): boolean {
  const isFilled = attribute.autoIncrement === true || member(attribute, '_autoGenerated') === true
  const hasDefault = attribute.defaultValue !== undefined && attribute.defaultValue !== null
  return (attribute.allowNull === false || attribute.primaryKey === true) && !isFilled && !hasDefault
}

const UNKNOWN: Derived = { rules: {}, exact: false }

/**
 * One entry of `validate` as a rule. Only what is the same for every value of the type is derived: e-mail formats are
 * stricter in Sequelize, so those are checked twice, and what is not known here is Sequelize's alone.
 */
function derive(name: string, test: unknown, type: FieldType): Derived {
  const known = typeof test === 'function' ? undefined : DERIVED.get(name)
  return known?.types.has(type) === true ? known.derive(argumentsOf(test), test, type) : UNKNOWN
}

interface KnownValidator {
  /** The types of fields that it says something about. */
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

/** Validators of numbers that may have bounds. */
const BOUNDED: ReadonlySet<string> = new Set(['isInt', 'isFloat'])

function numberRange(settings: unknown): Derived {
  const [min, max] = [member(settings, 'min'), member(settings, 'max')]
  return { rules: { ...(isBound(min) ? { min } : {}), ...(isBound(max) ? { max } : {}) }, exact: false }
}

/** Sequelize's reading of `x`, `[x, y]`, `{ args: x }` and `{ args: [x, y] }`. */
function argumentsOf(test: unknown): readonly unknown[] {
  const args = member(test, 'args') || test
  return Array.isArray(args) ? args : [args]
}

/** True for `true` and `{ msg }`: the validator with its own settings. */
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
  // A sticky pattern is tied to where it matched last, which a rule is not.
  if (source instanceof RegExp) return { rules: { match: source }, exact: !source.sticky }
  if (typeof source !== 'string' || (flags !== undefined && typeof flags !== 'string')) return UNKNOWN
  try {
    const match = new RegExp(source, flags)
    return { rules: { match }, exact: !match.sticky }
  } catch {
    return UNKNOWN
  }
}

/** A copy without the flags that make a pattern remember its last match. */
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
