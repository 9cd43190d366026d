import type { Field, JsonValue } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { CreatePlan, Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { fieldNamed } from '../common/columns.js'
import { fault } from '../common/messages.js'
import { problem } from '../common/problem.js'
import { originForm } from '../common/target.js'
import { assertTied } from '../common/ties.js'
import { answer, pathOf } from '../handler.js'
import { parse } from '../parse/index.js'
import { comparable, ownerOf } from './owner.js'
import { receivedBy } from './read.js'
import type { NestedRequest } from './request.js'

/** Creates a record that belongs to the owner. */
export async function create(request: NestedRequest): Promise<Reply> {
  const { target, req, res, operations } = request
  const { resource } = target
  const { create: row } = operations
  const intent = await parse(resource, row, receivedBy(request, target))
  const ties = tiesOf(request, await ownerOf(request))
  const { body, wrong } = tied(resource, intent, ties)
  const amend = (plan: Plan): Plan => {
    if (plan.kind === 'create') return completed(resource, plan, ties, wrong)
    throw new TypeError(`a behaviour of ${resource.name} has made a create a ${plan.kind}`)
  }
  const address = { url: originForm(req.originalUrl), collection: mountOf(request) + collectionOf(resource) }
  return answer({ ...target, operation: 'create', row, res, address, amend }, { ...intent, kind: 'create', ...body })
}

/** The attributes that make a record the owner's. */
type Ties = readonly (readonly [field: Field, value: JsonValue])[]

function tiesOf({ relation: { ends }, target: { resource } }: NestedRequest, owner: JsonValue): Ties {
  // What has no value of the key that others point at can own nothing.
  if (owner === null) throw problem('conflict', { detail: 'The record has no key that others could refer to.' })
  const named = [[ends.target, owner] as const, ...ends.fixed()]
  return named.map(([name, value]) => [fieldNamed(resource.fields, name), value])
}

/** The body with the owner in it, for what the target demands of bodies, and the fields that named another one. */
function tied(resource: Resource, intent: Intent, ties: Ties) {
  if (intent.kind !== 'create') throw new TypeError(`a create was read as a ${intent.kind}`)
  // An excluded attribute's name may be that of another field.
  const named = ties.filter(([field]) => resource.byName.get(field.json.toLowerCase()) === field)
  const wrong = named.filter(([{ json }, value]) => Object.hasOwn(intent.body, json) && intent.body[json] !== value)
  const body = { ...intent.body, ...Object.fromEntries(named.map(([{ json }, value]) => [json, value])) }
  return { body: { body, minimal: intent.minimal }, wrong: wrong.map(([field]) => field) }
}

/** @throws Problem 403 where the caller may create records of other owners only */
function completed(resource: Resource, plan: CreatePlan, ties: Ties, wrong: readonly Field[]): CreatePlan {
  const own = ties.map(([field, value]) => [field.name, comparable(field, value)] as const)
  assertTied(resource, plan.upkeep, own)
  const upkeep = new Map([...plan.upkeep, ...own])
  if (wrong.length === 0) return { ...plan, upkeep }
  const found = plan.invalid ?? { errors: {}, failed: new Set<string>() }
  const message = [resource.tell(fault('owner'))]
  const invalid = {
    errors: { ...found.errors, ...Object.fromEntries(wrong.map(({ json }) => [json, message])) },
    failed: new Set([...found.failed, ...wrong.map(({ name }) => name)]),
  }
  return { ...plan, upkeep, invalid }
}

/** The path of this request in front of the owner's route, as the client sees it. */
function mountOf({ owner, req }: NestedRequest): string {
  // Behind the route stand the owner's key and the relation; what is mounted differs in how much of it is Express' base.
  const words = pathOf(req).split('/')
  const own = collectionOf(owner.resource).split('/').length - 1 + 2
  return words.slice(0, words.length - own).join('/')
}

function collectionOf({ route }: Resource): string {
  return route === '/' ? '' : route
}
