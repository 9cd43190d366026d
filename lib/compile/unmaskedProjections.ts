import type { Field } from '../../types/field.js'
import type { Member, Projection } from '../../types/projection.js'
import type { UnmaskedProjections } from '../../types/resource.js'
import { createComputedMember, isComputedField, ownColumn } from '../common/columns.js'

/** Creates the projections of all own fields. `flatten` names JSON columns whose members are added to the record. */
export function createUnmaskedProjections(
  fields: readonly Field[],
  keys: readonly Field[],
  flatten: readonly string[],
): UnmaskedProjections {
  const createProjection = (target: keyof UnmaskedProjections): Projection => {
    const shown = fields.filter(({ targets }) => targets.has(target))
    const stored = shown.filter(({ computed }) => computed === undefined)
    const needed = shown.flatMap(({ computed }) => computed?.needs ?? [])
    // `Location` and cursors need the key, even if responses do not show it.
    const read = [...new Set([...stored, ...keys, ...needed])]
    const members = shown.map((field): Member => {
      const index = read.indexOf(field)
      if (isComputedField(field)) return createComputedMember(field, stored.length, (each) => read.indexOf(each))
      return { kind: flatten.includes(field.name) ? 'flattened' : 'value', json: field.json, index, field }
    })
    return Object.freeze({ columns: read.map(ownColumn), members, readableColumns: new Set(stored.keys()) })
  }
  return Object.freeze({ response: createProjection('response'), list: createProjection('list') })
}
