import type { Field } from '../../types/field.js'
import type { Member, Projection } from '../../types/projection.js'
import type { Whole } from '../../types/resource.js'
import { ownColumn } from '../common/columns.js'

/** Records with all of their own fields. `flatten` names JSON columns whose members become those of the record. */
export function wholeOf(fields: readonly Field[], keys: readonly Field[], flatten: readonly string[]): Whole {
  const shape = (target: keyof Whole): Projection => {
    const shown = fields.filter(({ targets }) => targets.has(target))
    const members = shown.map((field, index): Member => {
      return { kind: flatten.includes(field.name) ? 'flattened' : 'value', json: field.json, index, field }
    })
    // Locations and cursors need the key, whether or not the shape has it.
    const columns = [...new Set([...shown, ...keys])].map(ownColumn)
    return Object.freeze({ columns, members, shown: new Set(shown.keys()) })
  }
  return Object.freeze({ response: shape('response'), list: shape('list') })
}
