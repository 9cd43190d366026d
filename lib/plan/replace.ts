import type { Field, JsonValue } from '../../types/field.js'
import type { ReplaceIntent } from '../../types/intent.js'
import type { CreatePlan, KeyValue, Projection, ReplacePlan } from '../../types/plan.js'
import type { BodyNames, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { withoutAbsent } from '../common/absent.js'
import { planKeyParts } from '../common/keys.js'
import { fault } from '../common/messages.js'
import { problem } from '../common/problem.js'
import { readStatedKey } from './key.js'
import { judged, planCreate, planUpdate } from './update.js'

type Addressed = Omit<ReplaceIntent, 'key'> & { readonly key: KeyValue }

/**
 * Plans a PUT. Fields that the body omits get their defaults. Fields that the caller may not read keep their values, because a GET did not
 * show them. The record can be created if clients choose keys.
 *
 * @throws Problem 400 if the keys of the body and the path differ
 */
export function planReplace(
  resource: Resource,
  intent: Addressed,
  view: View,
  projection: Projection,
  instant: Date,
): ReplacePlan {
  const { key, match, update: body } = intent
  const names: BodyNames = { unknown: undefined, writable: view.writable }
  assertKey(resource, intent)
  const fields = resource.fields.filter(({ targets }) => targets.has('update'))
  const lacking = fields.filter(({ json }) => !Object.hasOwn(body, json))
  const unread = lacking.filter(
    (field) => field.virtual || !field.targets.has('response') || !view.readable(field, null),
  )
  const whole = {
    ...planUpdate(resource, { key, match, body, names }, projection, instant),
    ...judged(resource.validateReplace(body, names)),
    absent: new Set(lacking.map(({ name }) => name)),
    operation: 'replace',
  } as const
  return {
    kind: 'replace',
    update: withoutAbsent(whole, unread),
    create: resource.keys.every(({ targets }) => targets.has('create'))
      ? creation(resource, intent, names, projection, instant)
      : null,
    isNew: intent.isNew,
  }
}

function creation(
  resource: Resource,
  { create, key }: Addressed,
  names: BodyNames,
  projection: Projection,
  instant: Date,
): CreatePlan {
  const isRefused = create instanceof Error
  const parts = planKeyParts(resource.keys, key)
  const own = Object.fromEntries(resource.keys.map(({ json }, index) => [json, parts[index]]))
  const body = { ...(isRefused ? {} : create), ...own }
  const plan: CreatePlan = { ...planCreate(resource, { body, names }, projection, instant), operation: 'replace' }
  return isRefused ? { ...plan, refusal: create } : plan
}

function assertKey({ keys, tell }: Resource, { key, named }: Addressed): void {
  const parts = planKeyParts(keys, key)
  const wrong = keys.filter((field, index) => {
    const value = named[index]
    return value !== undefined && !isPart(field, value, parts[index])
  })
  if (wrong.length === 0) return
  const message = [tell(fault('path-key'))]
  throw problem('validation', { errors: Object.fromEntries(wrong.map(({ json }) => [json, message])) })
}

function isPart(field: Field, named: unknown, part: JsonValue | undefined): boolean {
  if (typeof named === 'boolean') return named === part
  const read = readStatedKey([field], named)
  return read !== null && String(field.decode(read)) === String(part)
}
