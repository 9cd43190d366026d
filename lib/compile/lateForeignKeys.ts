import type { Model, ModelStatic } from 'sequelize'

/**
 * Returns a function that warns, once for each attribute, of foreign keys that associations have added since to the
 * model. The resource has no fields for them, so that bodies lose their values without an error.
 */
export function createLateForeignKeyWarning(model: ModelStatic<Model>): () => void {
  const known = new Set(Object.keys(model.getAttributes()))
  return () => {
    for (const [name, { references }] of Object.entries(model.getAttributes())) {
      if (references === undefined || known.has(name)) continue
      known.add(name)
      process.emitWarning(
        `${model.name}: an association has added the foreign key "${name}" after the router was created, so that bodies, ` +
          `responses and filters do not have it. Define the associations of ${model.name} before its router.`,
        { code: 'CRUD_LATE_FOREIGN_KEY' },
      )
    }
  }
}
