import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

test('an Idempotency-Key below a singleton belongs to the owner, also where nobody knows the caller', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Account = sequelize.define('KeyAccount', { name: DataTypes.STRING(20) }, { timestamps: false })
    const Post = sequelize.define('KeyPost', { text: DataTypes.STRING(20) }, { timestamps: false })
    Account.hasMany(Post, { as: 'posts', foreignKey: 'accountId' })
    Post.belongsTo(Account, { as: 'account', foreignKey: 'accountId' })
    app.use(
      crudRouter(Account, {
        route: 'me',
        singleton: ({ request }) => Number(request.headers['x-account']),
        idempotency: true,
        relations: { posts: { routes: true, write: true } },
      }),
    )
    app.use(crudRouter(Post, { route: 'posts', idempotency: true }))
    return { Account, Post }
  })
  const { Account } = stage
  for (const name of ['one', 'two']) await Account.create({ name })
  t.teardown(stage.close)
  // The table of keys comes with the routers.
  await stage.sequelize.sync()
  const created = async (account: string) => {
    return stage.post('/me/posts', { text: 'same' }, { 'idempotency-key': 'k', 'x-account': account })
  }
  const [one, other, again] = [await created('1'), await created('2'), await created('1')]
  t.deepEqual([one.body.accountId, other.body.accountId], [1, 2])
  t.is(again.text, one.text)
  t.is((await stage.get('/posts')).body.totalCount, 2)
})
