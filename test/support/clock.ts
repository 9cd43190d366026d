import { DataTypes, type Model, type ModelStatic, type Options, type Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { openStage, type Stage } from './stage.js'

/** Models with dates and times of every kind, written by instances and by statements. */
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
      app.use(crudRouter(Event, { operations: Operations.AllWithBulk }))
      app.use(crudRouter(Hooked, { operations: Operations.AllWithBulk, route: 'api/hooked' }))
      return { Event, Hooked }
    },
    { sequelize: options },
  )
}
