import type { Model, ModelStatic } from 'sequelize'
import type { Behaviour } from '../../types/behaviour.js'

/**
 * Deleting marks the record instead of removing its row. Reads need nothing here: Sequelize itself hides the marked
 * records of a `paranoid` model from every statement it writes.
 */
export function softDelete(model: ModelStatic<Model>, deletedAt: string | undefined): Behaviour | null {
  if (model.options.paranoid !== true || deletedAt === undefined) return null
  return {
    name: 'softDelete',
    amend: (_, plan, { instant }) =>
      plan.kind === 'delete' || plan.kind === 'bulkDelete' ? { ...plan, mark: new Map([[deletedAt, instant]]) } : plan,
  }
}
