import { DataTypes, type Model, type ModelStatic, type Options, type Sequelize } from 'sequelize'
import { crudRouter, type Hook, Operations } from '../../lib/index.js'
import { openStage, type Stage } from './stage.js'

/** Models with dates and times of every kind, written by instances and by statements. Ticks have an instant as key. */
export interface Clock {
  readonly Event: ModelStatic<Model>
  readonly Hooked: ModelStatic<Model>
}

export async function serveClock(options: Options, prepare?: (sequelize: Sequelize) => void): Promise<Stage<Clock>> {
  return openStage(
    ({ sequelize }, app) => {
      prepare?.(sequelize)
      const attributes = () => ({
        moment: DataTypes.DATE(3),
        coarse: DataTypes.DATE,
        day: DataTypes.DATEONLY,
        clock: DataTypes.TIME,
        today: { type: DataTypes.DATE(3), defaultValue: DataTypes.NOW },
      })
      const hooks = { beforeSave: () => undefined, beforeFind: () => undefined }
      const Event = sequelize.define('Event', attributes())
      const Hooked = sequelize.define('Hooked', attributes(), { tableName: 'hooked', hooks })
      const serveOwners = (name: string, own: object): void => {
        const at = { type: DataTypes.DATE(3), primaryKey: true }
        const Owner = sequelize.define(name, { at, name: DataTypes.STRING }, { timestamps: false, ...own })
        const Thing = sequelize.define(`${name}Thing`, { name: DataTypes.STRING }, { timestamps: false })
        Owner.hasMany(Thing, { as: 'things', foreignKey: 'ownerAt' })
        Thing.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerAt' })
        const relations = { things: { routes: true, write: true } }
        app.use(crudRouter(Owner, { operations: Operations.AllWithBulk, relations }), crudRouter(Thing))
      }
      serveOwners('Owner', {})
      serveOwners('HookedOwner', { hooks })
      const at = { type: DataTypes.DATE(3), primaryKey: true }
      const changes = { beforeSave: () => undefined, beforeDestroy: () => undefined }
      const Tick = sequelize.define('Tick', { at, name: DataTypes.STRING }, { timestamps: false, hooks: changes })
      const afterUpdate: Hook = async ({ instance, transaction }) => {
        await instance.reload({ transaction })
      }
      app.use(crudRouter(Tick, { hooks: { afterUpdate } }))
      app.use(crudRouter(Event, { operations: Operations.AllWithBulk }))
      app.use(crudRouter(Hooked, { operations: Operations.AllWithBulk, route: 'api/hooked' }))
      return { Event, Hooked }
    },
    { sequelize: options },
  )
}
