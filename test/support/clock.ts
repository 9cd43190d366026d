import { DataTypes, type Model, type ModelStatic, type Options, type Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { type Served, serveModels } from './models.js'

/** Models with dates and times of every kind, written by instances and by statements. */
export interface Clock {
  readonly Event: ModelStatic<Model>
  readonly Hooked: ModelStatic<Model>
}

export async function serveClock(options: Options, prepare?: (sequelize: Sequelize) => void): Promise<Served<Clock>> {
  return serveModels({
    options,
    define: (sequelize) => {
      prepare?.(sequelize)
      const attributes = () => ({
        moment: DataTypes.DATE(3),
        coarse: DataTypes.DATE,
        day: DataTypes.DATEONLY,
        clock: DataTypes.TIME,
        today: { type: DataTypes.DATE(3), defaultValue: DataTypes.NOW },
      })
      const hooks = { beforeSave: () => undefined, beforeFind: () => undefined }
      return {
        Event: sequelize.define('Event', attributes()),
        Hooked: sequelize.define('Hooked', attributes(), { tableName: 'hooked', hooks }),
      }
    },
    mount: (app, { Event, Hooked }) => {
      app.use(crudRouter(Event, { operations: Operations.AllWithBulk }))
      app.use(crudRouter(Hooked, { operations: Operations.AllWithBulk, route: 'api/hooked' }))
    },
  })
}
