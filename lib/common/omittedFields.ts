import type { Field } from '../../types/field.js'
import type { UpdatePlan } from '../../types/plan.js'

/**
 * Keeps the stored values of the given fields if the body of a replacement omits the fields. A patch is returned
 * unchanged.
 */
export function keepOmittedFields(plan: UpdatePlan, fields: readonly Field[]): UpdatePlan {
  const { missingAttributes, changes, invalid } = plan
  if (missingAttributes === undefined) return plan
  const staying = fields.filter(({ name }) => missingAttributes.has(name))
  if (staying.length === 0) return plan
  const names = new Set(staying.map(({ name }) => name))
  const jsons = new Set(staying.map(({ json }) => json))
  // The only possible error of a missing member is that the member is required.
  const errors = Object.entries(invalid?.errors ?? {}).filter(([json]) => !jsons.has(json))
  return {
    ...plan,
    missingAttributes: removeNames(missingAttributes, names),
    changes: new Map([...changes].filter(([name]) => !names.has(name))),
    invalid:
      errors.length === 0
        ? null
        : { errors: Object.fromEntries(errors), failed: removeNames(invalid?.failed ?? new Set(), names) },
  }
}

function removeNames(all: ReadonlySet<string>, names: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...all].filter((name) => !names.has(name)))
}
