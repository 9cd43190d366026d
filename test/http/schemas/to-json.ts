import test from 'ava'
import { DataTypes, Model, type ModelStatic } from 'sequelize'
import { CrudConfigError, createCrud, crudController, crudRouter, queryOf } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

class User extends Model {
  override toJSON(): object {
    const { password: _, ...rest } = this.get()
    return rest
  }
}
class Admin extends User {}
class Plain extends Model {}

const served = await openStage(({ sequelize }, app) => {
  for (const model of [User, Admin, Plain]) {
    model.init({ name: DataTypes.STRING, password: DataTypes.STRING }, { sequelize, timestamps: false })
  }
  const Patched = sequelize.define('Patched', { name: DataTypes.STRING })
  Patched.prototype.toJSON = () => ({})
  app.use(crudRouter(User, { toJSON: 'ignore', fields: { password: { exclude: 'response' } } }))
  app.use(createCrud({ toJSON: 'ignore' }).crudRouter(Admin))
  app.use(crudRouter(Plain))
  return { Patched }
})

test.after.always(() => served.close())

const MESSAGE = (name: string): string =>
  `${name} has its own toJSON, which this package does not call for responses. Exclude the fields that it hides by fields: { x: { exclude: true } }, then set toJSON: 'ignore'. (MODEL_TO_JSON)`

test('a model with a toJSON of its own, or an inherited one, is refused', (t) => {
  const models: ModelStatic<Model>[] = [User, Admin, served.Patched]
  for (const model of models) {
    for (const mount of [crudRouter, crudController]) {
      const error = t.throws(() => mount(model), { instanceOf: CrudConfigError })
      t.is(error?.code, 'MODEL_TO_JSON')
      t.is(error?.message, MESSAGE(model.name))
    }
  }
})

test('queries without routes take such models, since the host turns their rows into JSON', (t) => {
  t.notThrows(() => queryOf(User))
})

test('a host that has read it mounts such models with toJSON ignore, also as a default', async (t) => {
  await Promise.all(
    ['/api/users', '/api/admins', '/api/plains'].map((path) => served.post(path, { name: 'a', password: 'b' })),
  )
  t.deepEqual((await served.get('/api/users/1')).body, { id: 1, name: 'a' })
  t.deepEqual((await served.get('/api/admins/1')).body, { id: 1, name: 'a', password: 'b' })
  t.is((await served.get('/api/plains/1')).status, 200)
})

test('toJSON takes no other word', (t) => {
  const error = t.throws(() => crudRouter(User, { toJSON: 'use' as 'ignore' }), { instanceOf: CrudConfigError })
  t.is(error?.code, 'INVALID_OPTION')
})
