import type { Field, FieldType } from '../../types/field.js'
import type { Reach, Relation } from '../../types/resource.js'
import { escapeFilterValue } from '../language/filter.js'
import { type OperatorName, operatorInfo } from '../language/operators.js'
import { kindOf, withMembers } from './fields.js'
import type { Subject } from './subjects.js'

/** What is told of a field's use in queries. */
type Queried = Pick<Field, 'json' | 'valueType' | 'nullable' | 'operators' | 'filterable' | 'sortable' | 'virtual'>

/** Whether filters can name a field: an operator alone would say that there is one. */
export function isFilterable({ filterable, operators, virtual }: Queried): boolean {
  return filterable && operators.size > 0 && !virtual
}

/** The tokens of the operators that a field has in filters. */
export function tokensOf(field: Queried): readonly string[] {
  return isFilterable(field) ? [...field.operators].map((name: OperatorName) => operatorInfo(name).token) : []
}

/** The fields of a resource that filters can name. */
export function filterableOf({ resource }: Subject): readonly Field[] {
  return withMembers(resource.fields).filter(isFilterable)
}

/** The relations that paths of a resource can cross, with what is behind them. */
export function crossedOf({ resource }: Subject): readonly (readonly [relation: Relation, reach: Reach])[] {
  return [...resource.relations().values()].flatMap((relation) => {
    const reach = relation.reach()
    return reach === null ? [] : [[relation, reach] as const]
  })
}

const CODE = '`'

function code(text: string): string {
  return CODE + text + CODE
}

/** What a filter of the resource can say: its fields, their operators, and the paths behind them. */
export function describeFilter(subject: Subject): string {
  const groups = new Map<string, { readonly names: string[]; readonly tokens: string }>()
  for (const field of filterableOf(subject)) {
    const tokens = tokensOf(field).map(code).join(' ')
    const group = groups.get(tokens) ?? { names: [], tokens }
    groups.set(tokens, group)
    group.names.push(`${code(field.json)} (${kindOf(field)}${field.nullable ? ', null' : ''})`)
  }
  const fields = [...groups.values()].map(({ names, tokens }) => `- ${names.join(', ')}: ${tokens}`)
  const crossed = crossedOf(subject)
  const paths = crossed.flatMap(([{ json, many }, reach]) => {
    const names = withMembers([...reach.fields.values()])
      .filter(isFilterable)
      .map((field) => field.json)
    const what = names.length === 0 ? 'paths behind it' : names.map(code).join(', ')
    return [`- ${code(json)}${many ? ', a collection' : ''}: ${what}`]
  })
  const { limits } = subject.resource
  return [
    'Clauses `field operator value`, joined by `,` (and) and `|` (or) and grouped by `( )`. Names are in any case. Values stand without quotes, which would be a part of them. `/i` at the end of a clause ignores case, `null` tests for null, `\\` escapes, `;` separates the values of `=in=` and `=out=`.',
    ...(fields.length === 0 ? [] : ['', 'Fields:', '', ...fields]),
    ...(paths.length === 0 ? [] : ['', `Paths, up to ${limits.pathDepth} relations deep:`, '', ...paths]),
    ...(crossed.some(([{ many }]) => many)
      ? [
          '',
          'Of a collection: `Any`, `All` and `None` with a condition, as in `name.Any(a=1,b>2)`, and `name.Count>2`.',
        ]
      : []),
    '',
    `At most ${limits.filterLength} characters and ${limits.clauses} clauses.`,
  ].join('\n')
}

/** A value that filters take for a type, as filters spell it. */
const VALUES: Readonly<Record<FieldType, string>> = {
  string: 'a',
  integer: '10',
  bigint: '10',
  decimal: '10',
  float: '10',
  boolean: 'true',
  datetime: '2026-01-31',
  date: '2026-01-31',
  time: '08:30:00',
  uuid: '00000000-0000-4000-8000-000000000000',
  enum: '',
  json: '',
  blob: '',
}

/** Three filters of a resource's own fields; none where it has no fields for them. */
export function exampleFilters(subject: Subject): readonly string[] {
  const { masks } = subject.resource.documented
  const open = filterableOf(subject).filter(({ name }) => !masks.has(name))
  const own = open.flatMap((field) => clauses(field, field.json))
  const behind = crossedOf(subject).flatMap(([{ json, many }, { fields, resources }]) =>
    [...fields.values()]
      .filter(isFilterable)
      .filter(({ name }) => !resources.some(({ documented }) => documented.masks.has(name)))
      .slice(0, 1)
      .flatMap((field) => clauses(field, many ? `${json}.Any.${field.json}` : `${json}.${field.json}`)),
  )
  const [first, second, third] = own
  const [path] = behind
  if (first === undefined || second === undefined) return [...own, ...behind].slice(0, 3)
  return [first, `${first},${third ?? second}`, path ?? `${first}|${second}`]
}

/** What can be said of a field, by the operators that it has: two clauses, or none. */
function clauses({ valueType: { type, values = [] }, operators }: Field, path: string): readonly string[] {
  const value = type === 'enum' ? escapeFilterValue(values[0] ?? '') : VALUES[type]
  if (value === '') return []
  if (operators.has('contains')) return [`${path}=*${value}`, `${path}^${value}`]
  if (operators.has('gte')) return [`${path}>=${value}`, `${path}<${value}`]
  return [`${path}=${value}`, `${path}!=${value}`]
}
