import type { JsonSchema } from '../../types/openApi.js'
import type { Relation } from '../../types/resource.js'
import type { RelationRoute } from '../nested/routes.js'
import { OPERATIONS, type Operation, type OperationName } from '../operations.js'
import { type Asked, aside, asked } from './asked.js'
import { type Draft, SHARED } from './components.js'
import { keysOf } from './keys.js'
import type { OperationEntry } from './operations.js'
import { objectOf } from './schema.js'
import { upsertOf } from './shapes.js'
import type { Subject } from './subjects.js'

const WHOLE = { type: 'integer', minimum: 0 } as const

/** How many links a request has made and undone. */
export function linked(draft: Draft): Readonly<Record<number, JsonSchema>> {
  const schema = draft.components.refer('schemas', 'Linked', SHARED, () =>
    objectOf({ linked: WHOLE, unlinked: WHOLE }, new Set(['unlinked'])),
  )
  return { 200: { description: 'How many links were made, and undone.', content: { 'application/json': { schema } } } }
}

export const DONE: Readonly<Record<number, JsonSchema>> = { 204: { description: 'It is done.' } }

/** The ends of a route that changes links, and the route. */
export interface LinkRoute {
  readonly owner: Subject
  readonly target: Subject
  readonly relation: Relation
  readonly route: Pick<RelationRoute, 'method' | 'item'>
}

/** Who speaks for the rows between. */
function betweenOf({ subjects }: Draft, { owner, relation }: LinkRoute): Subject | null {
  const spoken = relation.link?.speaker() ?? null
  return spoken === null ? null : subjects.of(spoken, owner.at)
}

/** What the bodies of such a route are; nothing where it takes none. */
export function linkBody(draft: Draft, link: LinkRoute): Pick<OperationEntry, 'body' | 'isBodyOptional'> {
  const { owner, target, route } = link
  if (!route.item) return { body: () => keysOf(target, owner.resource.limits.bulkItems) }
  const between = route.method === 'put' ? betweenOf(draft, link) : null
  return between === null ? {} : { body: () => upsertOf(draft, between), isBodyOptional: true }
}

/** Those who have a say in it: the owner last, whose change it is. None is held against the owner's version. */
export function linkAsks(draft: Draft, link: LinkRoute): readonly Asked[] {
  const { owner, target, relation, route } = link
  const between = betweenOf(draft, link)
  const { body } = linkBody(draft, link)
  const takes: Operation['body'] = body === undefined ? null : route.item ? 'object' : 'array'
  const sets = new Set(relation.link?.keys)
  const parts = between === null ? [] : HAPPENS[`${route.method}${route.item ? ' item' : ''}`]
  return [
    asked(target, 'getById'),
    ...(parts ?? []).flatMap((operation): Asked[] => {
      if (between === null) return []
      const part = aside(between, operation)
      // The version of a link that is changed is in the body.
      const intent = operation === 'update' ? operation : part.row.intent
      return [{ ...part, row: { ...part.row, body: takes, intent }, sets }]
    }),
    { ...asked(owner, 'update'), row: { ...OPERATIONS.update, body: takes, intent: 'restore' } },
  ]
}

/** What such routes do with rows between. */
const HAPPENS: Readonly<Record<string, readonly OperationName[]>> = {
  'put item': ['create', 'update'],
  'delete item': ['delete'],
  put: ['create', 'delete'],
  post: ['create'],
}
