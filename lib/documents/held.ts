import type { Field } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import type { Relation } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { typeName } from '../compile/names.js'
import { singularize } from '../sequelize/words.js'
import { heldBy } from './asked.js'
import type { Draft } from './components.js'
import { keysOf } from './keys.js'
import { nullable, objectOf } from './schema.js'
import type { Subject } from './subjects.js'

type Members = Readonly<Record<string, JsonSchema>>

/** What a record of others is made of, in a body that makes it, in one that may change it, and in the reply to either. */
export type Held = 'Create' | 'Update' | 'Written'

/** Gives the members of such a record. */
export type Fill = (draft: Draft, target: Subject, held: Held, relation: Relation) => JsonSchema

/** The members of a resource's records that hold those of others. Bodies need have none of them, and replies have what bodies had. */
export function heldIn(draft: Draft, subject: Subject, held: Held, fill: Fill): Members {
  const { bulkItems } = subject.resource.limits
  const all = heldBy(draft, subject)
  assertApart(
    subject,
    all.filter(({ relation }) => relation.link === null).map(({ json }) => json),
  )
  const members = all.map(({ json, relation, target }): [string, JsonSchema] => {
    if (relation.link !== null) return [json, keysOf(target, held === 'Written' ? null : bulkItems)]
    const one = elementOf(draft, subject, relation, held, fill)
    if (!relation.many) return [json, nullable(one)]
    return [json, { type: 'array', items: one, ...(held === 'Written' ? {} : { maxItems: bulkItems }) }]
  })
  return Object.fromEntries(members)
}

/** What one of the records behind a relation is called. */
function wordOf(json: string): string {
  return singularize(typeName(json))
}

/** @throws CrudConfigError where two relations would have one name for theirs */
function assertApart({ resource }: Subject, relations: readonly string[]): void {
  const words = relations.map(wordOf)
  const second = words.findIndex((word, index) => words.indexOf(word) !== index)
  if (second < 0) return
  const first = relations[words.indexOf(words[second] ?? '')]
  throw new CrudConfigError(
    'INVALID_OPTION',
    `${resource.name}: what bodies hold of "${first}" and "${relations[second]}" would have one name in a document: give one of these associations another "as".`,
  )
}

/** A record behind a relation, without what its owner sets. */
export function elementOf(draft: Draft, subject: Subject, relation: Relation, held: Held, fill: Fill): JsonSchema {
  const target = draft.subjects.of(relation.speaker(), subject.at)
  const name = subject.names.one + wordOf(relation.json) + held
  return draft.components.refer('schemas', name, relation, () => fill(draft, target, held, relation))
}

/** The attributes that a record has of its owner. */
export function ownedBy({ ends }: Relation): ReadonlySet<string> {
  return new Set([ends.target, ...ends.fixed().keys()])
}

/** The members of a record that its owner says by what it is: they have no other value. */
export function fixedIn(relation: Relation, fields: readonly Field[], members: Members): Members {
  const fixed = relation.ends.fixed()
  const named = fields.filter(({ name, json }) => fixed.has(name) && Object.hasOwn(members, json))
  return Object.fromEntries(named.map(({ name, json }) => [json, { const: fixed.get(name) ?? null }]))
}

/** A record of others from these members and those that its resource holds in turn. */
export function heldOf(members: Members, deeper: Members, required: readonly string[]): JsonSchema {
  const all = { ...members, ...deeper }
  const needed = new Set(required)
  return objectOf(all, new Set(Object.keys(all).filter((name) => !needed.has(name))))
}
