import type { Field } from '../../types/field.js'
import type { Member, Projection } from '../../types/projection.js'
import type { Whole } from '../../types/resource.js'
import { computedMember, isComputing, ownColumn } from '../common/columns.js'

/** The projection of all own fields. `flatten` names JSON columns whose members are added to the record. */
export function wholeOf(fields: readonly Field[], keys: readonly Field[], flatten: readonly string[]): Whole {
  const shape = (target: keyof Whole): Projection => {
    const shown = fields.filter(({ targets }) => targets.has(target))
    const stored = shown.filter(({ computed }) => computed === undefined)
    const needed = shown.flatMap(({ computed }) => computed?.needs ?? [])
    // `Location` and cursors need the key, whether or not the shape has it.
    const read = [...new Set([...stored, ...keys, ...needed])]
    const members = shown.map((field): Member => {
      const index = read.indexOf(field)
      if (isComputing(field)) return computedMember(field, stored.length, (each) => read.indexOf(each))
      return { kind: flatten.includes(field.name) ? 'flattened' : 'value', json: field.json, index, field }
    })
    return Object.freeze({ columns: read.map(ownColumn), members, shown: new Set(stored.keys()) })
  }
  return Object.freeze({ response: shape('response'), list: shape('list') })
}
