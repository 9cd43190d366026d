import type { Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import type { Field, FieldType, RuleMessages, Rules, ValueCheck, ValueType } from '../../types/field.js'
import type { FieldRules } from '../../types/options.js'
import type { TextBound } from '../../types/resource.js'
import { lengthBounds } from '../codec/bounds.js'
import { CrudConfigError } from '../common/errors.js'
import { NUMBERS } from '../common/values.js'
import { createCheck } from '../sequelize/builtInValidators.js'
import { readMember, type TypedAttribute, valueTypeOf } from './valueType.js'

/** The parts of an attribute in `Model.getAttributes()` that its rules depend on. */
export type RuledAttribute = TypedAttribute &
  Pick<ModelAttributeColumnOptions, 'allowNull' | 'defaultValue' | 'autoIncrement' | 'primaryKey' | 'validate' | 'set'>

/**
 * A rule that is derived from a model's validator. `exact` is true if every value that meets the rule also passes the
 * validator.
 */
interface DerivedRule {
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

// Most fields share these objects.
const REQUIRED: Rules = Object.freeze({ required: true })
const OPTIONAL_RULES: Rules = Object.freeze({ required: false })

/**
 * Returns the rules of a field: the rules of the model and of the options combined, with the tighter bound of each
 * kind. Bounds of the column's type stay in the value type. A text with a pattern always has a maximum length.
 *
 * @throws CrudConfigError if an option is a rule that the field's type does not support
 */
export function createRules(attribute: RuledAttribute, valueType: ValueType, options: FieldRules = {}): Rules {
  assertRuleTypes(attribute, valueType, options)
  const isFilled = options.required === false && (attribute.allowNull === false || attribute.primaryKey === true)
  const required = options.required ?? isValueRequired(attribute)
  const own = validatorsOf(attribute)
  if (own.length === 0 && Object.keys(options).length === 0) return required ? REQUIRED : OPTIONAL_RULES
  const derived = own.map(([name, test]) => ({
    rules: deriveRule(name, test, valueType.type).rules,
    message: validatorMessageOf(test),
  }))
  const all = [...derived.map(({ rules }) => rules), options]
  const patterns = [...derived, { rules: options, message: undefined }].flatMap(({ rules, message }) =>
    rules.match === undefined ? [] : [[removeStatefulFlags(rules.match), message] as const],
  )
  const match = patterns.map(([pattern]) => pattern)
  const isPatterned = STRINGS.has(valueType.type) && (match.length > 0 || hasPattern(attribute.validate))
  const bounds = combineBounds(all, isPatterned && valueType.maxLength === undefined)
  return Object.freeze({
    required,
    ...(isFilled ? { filled: true as const } : {}),
    ...bounds,
    ...(all.some((rules) => rules.email === true) ? { email: true } : {}),
    ...(match.length === 0 ? {} : { match: Object.freeze(match) }),
    ...createChecks(attribute, valueType.type),
    ...collectMessages(own, derived, bounds, patterns),
  })
}

/** Checks that the field's type supports the rules of the options. @throws CrudConfigError for an unsupported rule */
function assertRuleTypes(attribute: RuledAttribute, { type }: ValueType, options: FieldRules): void {
  for (const [rule, types, noun] of RULE_TYPES) {
    if (options[rule] === undefined || options[rule] === false || types.has(type)) continue
    throw new CrudConfigError(
      'RULE_TYPE',
      `${attributeNameOf(attribute)}: rules.${rule} applies to ${noun}, not to ${type}. For other types set the option "schema" to a Joi schema.`,
    )
  }
}

type RuleBounds = Pick<Rules, Bound>

/** Returns the tighter bound of each kind. `isImplied` adds a maximum length to rules without one. */
function combineBounds(all: readonly FieldRules[], isImplied: boolean): RuleBounds {
  const minLength = pickTightest(Math.max, all, 'minLength')
  const maxLength = pickTightest(Math.min, all, 'maxLength') ?? (isImplied ? impliedMaxLength(minLength) : undefined)
  const min = pickTightest(Math.max, all, 'min')
  const max = pickTightest(Math.min, all, 'max')
  return {
    ...(minLength === undefined ? {} : { minLength }),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  }
}

/** The types whose body values reach Sequelize's validators unconverted. */
const CHECKED_TYPES: ReadonlySet<FieldType> = new Set([
  ...STRINGS,
  ...NUMBERS,
  ...(['enum', 'uuid', 'date', 'datetime'] satisfies FieldType[]),
])

/**
 * Returns the validators that values in bodies must pass. The value of an attribute with a setter passes no validator
 * here, because Sequelize validates the setter's result.
 */
function createChecks(attribute: RuledAttribute, type: FieldType): { readonly checks?: readonly ValueCheck[] } {
  if (attribute.set !== undefined || !CHECKED_TYPES.has(type)) return {}
  const checks = validatorsOf(attribute).flatMap(([name, test]) => {
    // Bounds of `isInt` and `isFloat` become the rules `min` and `max`, which have their own messages. Only `isInt` of
    // a number type with fractions remains a check.
    const isNumber = NUMBERS.has(type) && BOUNDED_VALIDATORS.has(name)
    if (isNumber && (name === 'isFloat' || INTEGERS.includes(type))) return []
    const check = createCheck(name, isNumber ? true : test)
    const message = validatorMessageOf(test)
    return check === null ? [] : [message === undefined ? check : Object.freeze({ ...check, message })]
  })
  return checks.length === 0 ? {} : { checks: Object.freeze(checks) }
}

interface RulesWithMessage {
  readonly rules: FieldRules
  readonly message: string | undefined
}

type Bound = 'minLength' | 'maxLength' | 'min' | 'max'

/** Collects the `msg` of the model's validators whose rules apply. */
function collectMessages(
  own: readonly (readonly [string, unknown])[],
  derived: readonly RulesWithMessage[],
  bounds: RuleBounds,
  patterns: readonly (readonly [RegExp, string | undefined])[],
): { readonly messages?: RuleMessages } {
  const required = validatorMessageOf(own.find(([name]) => name === 'notNull')?.[1])
  const bounded = (Object.keys(bounds) as Bound[]).flatMap((bound) => {
    const text = derived.find(({ rules, message }) => message !== undefined && rules[bound] === bounds[bound])?.message
    return text === undefined ? [] : [[bound, text] as const]
  })
  const match = new Map(patterns.flatMap(([pattern, text]) => (text === undefined ? [] : [[pattern, text] as const])))
  const messages: RuleMessages = {
    ...(required === undefined ? {} : { required }),
    ...Object.fromEntries(bounded),
    ...(match.size === 0 ? {} : { match }),
  }
  return Object.keys(messages).length === 0 ? {} : { messages: Object.freeze(messages) }
}

/** Returns the `msg` of a validator; undefined without a text. */
function validatorMessageOf(test: unknown): string | undefined {
  const message = typeof test === 'function' ? undefined : readMember(test, 'msg')
  return typeof message === 'string' && message !== '' ? message : undefined
}

/** Returns the bounds of the model's `len` as rules, whatever the attribute's type. */
function lengthRulesOf(attribute: RuledAttribute): Pick<FieldRules, 'minLength' | 'maxLength'> {
  const len = validatorsOf(attribute).find(([name, test]) => name === 'len' && typeof test !== 'function')
  return len === undefined ? {} : deriveLengths(argumentsOf(len[1])).rules
}

/**
 * Whether the rules reproduce every validator of the attribute exactly. If so, validated bodies need not pass
 * Sequelize's validators as well. In case of doubt the result is false.
 */
export function hasOnlyExactRules(attribute: RuledAttribute): boolean {
  const own = validatorsOf(attribute)
  if (own.length === 0) return true
  // A setter may turn a valid value into an invalid one.
  if (attribute.set !== undefined) return false
  const { type } = valueTypeOf(attribute)
  return own.every(([name, test]) => (name === 'notNull' ? attribute.allowNull === false : isExact(name, test, type)))
}

/** Whether a rule or a check of bodies accepts exactly the values that the validator accepts. */
function isExact(name: string, test: unknown, type: FieldType): boolean {
  return deriveRule(name, test, type).exact || (STRINGS.has(type) && createCheck(name, test) !== null)
}

function validatorsOf(attribute: RuledAttribute): (readonly [string, unknown])[] {
  return Object.entries(attribute.validate ?? {})
}

/** Whether the body must have a value: the column is NOT NULL, and neither the database nor Sequelize fills it. */
function isValueRequired(attribute: RuledAttribute): boolean {
  const isKey = attribute.primaryKey === true
  // Sequelize fills its timestamps, but not the foreign keys that are the primary key of a join model.
  const isTimestamp = readMember(attribute, '_autoGenerated') === true && !isKey
  const hasDefault = attribute.defaultValue !== undefined && attribute.defaultValue !== null
  return (attribute.allowNull === false || isKey) && attribute.autoIncrement !== true && !isTimestamp && !hasDefault
}

const UNKNOWN: DerivedRule = { rules: {}, exact: false }

/**
 * Derives a rule from one entry of `validate`. `exact` says that rule and validator accept equal values. Sequelize's
 * `isEmail` is stricter than the rule, so it is also a check. Only Sequelize runs unknown validators.
 */
function deriveRule(name: string, test: unknown, type: FieldType): DerivedRule {
  const known = typeof test === 'function' ? undefined : KNOWN_VALIDATORS.get(name)
  return known?.types.has(type) === true ? known.derive(argumentsOf(test), test, type) : UNKNOWN
}

interface KnownValidator {
  /** The types of fields that the rule applies to. */
  readonly types: ReadonlySet<FieldType>
  readonly derive: (args: readonly unknown[], test: unknown, type: FieldType) => DerivedRule
}

const PATTERN: KnownValidator = { types: STRINGS, derive: ([source, flags]) => derivePattern(source, flags) }

const KNOWN_VALIDATORS: ReadonlyMap<string, KnownValidator> = new Map<string, KnownValidator>([
  ['len', { types: STRINGS, derive: deriveLengths }],
  ['min', { types: NUMBERS, derive: ([min]) => (isBound(min) ? { rules: { min }, exact: true } : UNKNOWN) }],
  ['max', { types: NUMBERS, derive: ([max]) => (isBound(max) ? { rules: { max }, exact: true } : UNKNOWN) }],
  ['is', PATTERN],
  ['regex', PATTERN],
  [
    'isEmail',
    {
      types: STRINGS,
      derive: (_, test) => (hasDefaultSettings(test) ? { rules: { email: true }, exact: false } : UNKNOWN),
    },
  ],
  [
    'isInt',
    {
      types: NUMBERS,
      derive: ([range], test, type) =>
        hasDefaultSettings(test) ? { rules: {}, exact: INTEGERS.includes(type) } : deriveNumberRange(range),
    },
  ],
  [
    'isFloat',
    {
      types: NUMBERS,
      derive: ([range], test) => (hasDefaultSettings(test) ? { rules: {}, exact: false } : deriveNumberRange(range)),
    },
  ],
])

/** Number validators that accept bounds. */
const BOUNDED_VALIDATORS: ReadonlySet<string> = new Set(['isInt', 'isFloat'])

function deriveNumberRange(settings: unknown): DerivedRule {
  const [min, max] = [readMember(settings, 'min'), readMember(settings, 'max')]
  return { rules: { ...(isBound(min) ? { min } : {}), ...(isBound(max) ? { max } : {}) }, exact: false }
}

/** Returns the arguments of a validator as Sequelize reads them: `x`, `[x, y]`, `{ args: x }` or `{ args: [x, y] }`. */
function argumentsOf(test: unknown): readonly unknown[] {
  const args = readMember(test, 'args') || test
  return Array.isArray(args) ? args : [args]
}

/** Whether a validator has its default settings: `true` or `{ msg }`. */
function hasDefaultSettings(test: unknown): boolean {
  const args = readMember(test, 'args')
  return test === true || (readMember(test, 'msg') !== undefined && (args === undefined || args === true))
}

function isBound(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function deriveLengths(args: readonly unknown[]): DerivedRule {
  const [minLength, maxLength] = args
  if (!isBound(minLength) || args.length > 2) return UNKNOWN
  if (maxLength === undefined) return { rules: { minLength }, exact: true }
  return isBound(maxLength) ? { rules: { minLength, maxLength }, exact: true } : UNKNOWN
}

function derivePattern(source: unknown, flags: unknown): DerivedRule {
  // Sequelize's result for a sticky pattern depends on the last match. The rule's result does not.
  if (source instanceof RegExp) return { rules: { match: source }, exact: !source.sticky }
  if (typeof source !== 'string' || (flags !== undefined && typeof flags !== 'string')) return UNKNOWN
  try {
    const match = new RegExp(source, flags)
    return { rules: { match }, exact: !match.sticky }
  } catch {
    return UNKNOWN
  }
}

/** Copies a pattern without the flags that make it stateful. */
function removeStatefulFlags(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
}

function pickTightest(
  pick: (...bounds: readonly number[]) => number,
  all: readonly FieldRules[],
  name: 'minLength' | 'maxLength' | 'min' | 'max',
): number | undefined {
  const bounds = all.map((rules) => rules[name]).filter(isBound)
  return bounds.length === 0 ? undefined : pick(...bounds)
}

function attributeNameOf(attribute: RuledAttribute): string {
  const model = readMember(readMember(attribute, 'Model'), 'name')
  return [model, readMember(attribute, 'fieldName')].filter((name) => typeof name === 'string').join('.') || 'attribute'
}

/** Returns the maximum length of a text that has a pattern and no maximum, but at least the minimum length. */
function impliedMaxLength(minLength = 0): number {
  return Math.max(10_000, minLength)
}

/** Sequelize's validators that use no regular expression, so that their time is linear. */
const LINEAR_VALIDATORS: ReadonlySet<string> = new Set([
  ...['notNull', 'isNull', 'notEmpty', 'isEmpty', 'len', 'isLength', 'isByteLength', 'min', 'max', 'isImmutable'],
  ...['equals', 'contains', 'notContains', 'isIn', 'notIn', 'isJSON', 'isLowercase', 'isUppercase'],
])

/** Whether a validator of the attribute may use a regular expression. Functions are the host's responsibility. */
function hasPattern(validate: object | undefined): boolean {
  return Object.entries(validate ?? {}).some(
    ([name, test]) => typeof test !== 'function' && !LINEAR_VALIDATORS.has(name),
  )
}

/**
 * Returns the maximum length of each text that the model's own patterns validate. Rules of string fields check the
 * length already. Host schemas, setters and fields of other types could pass longer texts to Sequelize.
 */
export function textBoundsOf(model: ModelStatic<Model>, fields: readonly Field[]): readonly TextBound[] {
  const attributes = model.getAttributes()
  return fields.flatMap(({ name, json, valueType, rules }) => {
    const attribute = attributes[name]
    if (attribute === undefined || !hasPattern(attribute.validate)) return []
    const own = lengthRulesOf(attribute)
    const { max, tooHigh } =
      valueType.type === 'string'
        ? lengthBounds({ valueType, rules })
        : lengthBounds({
            valueType: { type: 'string' },
            rules: { required: false, maxLength: impliedMaxLength(own.minLength), ...own },
          })
    return max === undefined ? [] : [{ attribute: name, json, max, message: tooHigh }]
  })
}
