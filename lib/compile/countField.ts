import type { Field } from '../../types/field.js'
import { createDecoder } from '../codec/codecs.js'
import { operatorsForType } from '../language/operators.js'

const NUMBER = Object.freeze({ type: 'integer' } as const)
const RULES = Object.freeze({ required: false })
const decodeCount = createDecoder(NUMBER)

/** Creates the field for the number of a relation's records. The field is read-only and has no attribute. */
export function createCountField(relation: string): Field {
  const json = `${relation}Count`
  return Object.freeze({
    name: json,
    json,
    column: json,
    valueType: NUMBER,
    nullable: false,
    virtual: false,
    getter: false,
    isKey: false,
    assigned: false,
    targets: new Set(['response', 'list'] as const),
    filterable: false,
    sortable: true,
    operators: operatorsForType('integer'),
    rules: RULES,
    decode: decodeCount,
  })
}

/** Whether an attribute, visible or not, already has the name of the count. */
export function isCountNameTaken({ json }: Field, fields: readonly Field[]): boolean {
  return fields.some((field) => field.json.toLowerCase() === json.toLowerCase())
}
