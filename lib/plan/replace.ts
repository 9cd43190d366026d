import type { Field, JsonValue } from '../../types/field.js'
import type { ReplaceIntent } from '../../types/intent.js'
import type { CreatePlan, KeyValue, Projection, ReplacePlan } from '../../types/plan.js'
import type { BodyNames, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { planKeyJson, planKeyParts } from '../common/keys.js'
import { createMessage } from '../common/messages.js'
import { keepOmittedFields } from '../common/omittedFields.js'
import { problem } from '../common/problem.js'
import { readBodyKey } from './key.js'
import { planCreate, planUpdate, splitValidation } from './update.js'

type ReplaceWithKey = Omit<ReplaceIntent, 'key'> & { readonly key: KeyValue }

/**
 * Plans a PUT. Fields that the body omits get their defaults. Fields that the caller may not read keep their values,
 * because a GET does not return them. The record can be created if clients choose keys.
 * @throws Problem 400 if the keys of the body and the path differ
 */
export function planReplace(
  resource: Resource,
  intent: ReplaceWithKey,
  view: View,
  projection: Projection,
  instant: Date,
): ReplacePlan {
  const { key, match, update: body } = intent
  const names: BodyNames = { unknown: undefined, writable: view.writable }
  assertPathKey(resource, intent)
  const fields = resource.fields.filter(({ targets }) => targets.has('update'))
  const lacking = fields.filter(({ json }) => !Object.hasOwn(body, json))
  const unread = lacking.filter(
    (field) => field.virtual || !field.targets.has('response') || !view.readable(field, null),
  )
  const whole = {
    ...planUpdate(resource, { key, match, body, names }, projection, instant),
    ...splitValidation(resource.validateReplace(body, names)),
    missingAttributes: new Set(lacking.map(({ name }) => name)),
    operation: 'replace',
  } as const
  return {
    kind: 'replace',
    update: keepOmittedFields(whole, unread),
    create: resource.keys.every(({ targets }) => targets.has('create'))
      ? planCreation(resource, intent, names, projection, instant)
      : null,
    isCreateOnly: intent.isCreateOnly,
  }
}

/** Plans the creation of the record; null if no new record can have the key of the path. */
function planCreation(
  resource: Resource,
  { create, key }: ReplaceWithKey,
  names: BodyNames,
  projection: Projection,
  instant: Date,
): CreatePlan | null {
  const isRefused = create instanceof Error
  const parts = planKeyParts(resource.keys, key)
  const own = Object.fromEntries(resource.keys.map(({ json }, index) => [json, parts[index]]))
  const body = { ...(isRefused ? {} : create), ...own }
  const plan: CreatePlan = { ...planCreate(resource, { body, names }, projection, instant), operation: 'replace' }
  // The column may change a part, for example drop the trailing blanks of a CHAR.
  const isChanged = resource.keys.some((field, index) => {
    const value = plan.changes.get(field.name)
    return value !== undefined && !isSameKeyPart(field, field.decode(value), parts[index])
  })
  if (isChanged) return null
  return isRefused ? { ...plan, policyError: create } : plan
}

function assertPathKey({ keys, translate }: Resource, { key, keyValues }: ReplaceWithKey): void {
  const parts = planKeyParts(keys, key)
  const wrong = keys.filter((field, index) => {
    const value = keyValues[index]
    return value !== undefined && !isSameKeyPart(field, value, parts[index])
  })
  if (wrong.length === 0) return
  const message = [translate(createMessage('path-key'))]
  throw problem('validation', { errors: Object.fromEntries(wrong.map(({ json }) => [json, message])) })
}

function isSameKeyPart(field: Field, named: unknown, part: JsonValue | undefined): boolean {
  const read = readBodyKey([field], named)
  return read !== null && String(planKeyJson([field], read)) === String(part)
}
