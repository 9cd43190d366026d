import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { list, serveModels } from '../support/models.js'

const test = ava.serial

const served = await serveModels({
  define: (sequelize) => ({
    Person: sequelize.define(
      'person',
      {
        firstName: DataTypes.STRING,
        first_name: { type: DataTypes.STRING, field: 'old_name' },
        tenant_id: { type: DataTypes.INTEGER, field: 'old_tenant' },
        tenantId: DataTypes.INTEGER,
      },
      { timestamps: false },
    ),
  }),
  mount: (app, { Person }) => {
    app.use(
      crudRouter(Person, {
        operations: Operations.AllWithBulk,
        fields: { first_name: { exclude: true }, tenant_id: { exclude: true } },
        scope: () => ({ tenant_id: 5 }),
      }),
    )
  },
})

test.after.always(() => served.close())

test('an attribute that is excluded leaves its JSON name to another one', async (t) => {
  const { status, body } = await served.post('/api/people', { firstName: 'Ewa', tenantId: 7 })
  t.is(status, 201, JSON.stringify(body))
  t.like(body, { firstName: 'Ewa', tenantId: 7 })
  t.deepEqual(Object.keys(body), ['id', 'firstName', 'tenantId'])
  const row = await served.Person.findByPk(body.id)
  t.like(row?.get(), { firstName: 'Ewa', first_name: null, tenantId: 7, tenant_id: 5 })
  const found = await list(served, '/api/people', { filter: 'FirstName=Ewa', sort: '-FirstName', tenantId: 7 })
  t.like(found.body, { totalCount: 1, items: [{ firstName: 'Ewa' }] })
})

test('a scope over an excluded attribute leaves the field that has its JSON name alone', async (t) => {
  const [created] = (await served.post('/api/people/bulk', [{ firstName: 'Jan', tenantId: 8 }])).body
  const { status, body } = await served.patch(`/api/people/${created.id}`, { tenantId: 9 })
  t.is(status, 200)
  t.is(body.tenantId, 9)
  t.like((await served.Person.findByPk(created.id))?.get(), { tenantId: 9, tenant_id: 5 })
})
