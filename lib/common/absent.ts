import type { Field } from '../../types/field.js'
import type { UpdatePlan } from '../../types/plan.js'

/** A replacement that leaves these fields as they are where its body does not name them; a patch as it is. */
export function withoutAbsent(plan: UpdatePlan, fields: readonly Field[]): UpdatePlan {
  const { absent, changes, invalid } = plan
  if (absent === undefined) return plan
  const staying = fields.filter(({ name }) => absent.has(name))
  if (staying.length === 0) return plan
  const names = new Set(staying.map(({ name }) => name))
  const jsons = new Set(staying.map(({ json }) => json))
  // All that can be wrong with what is not there is that it is not there.
  const errors = Object.entries(invalid?.errors ?? {}).filter(([json]) => !jsons.has(json))
  return {
    ...plan,
    absent: without(absent, names),
    changes: new Map([...changes].filter(([name]) => !names.has(name))),
    invalid:
      errors.length === 0
        ? null
        : { errors: Object.fromEntries(errors), failed: without(invalid?.failed ?? new Set(), names) },
  }
}

function without(all: ReadonlySet<string>, names: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...all].filter((name) => !names.has(name)))
}
