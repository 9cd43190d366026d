import test from 'ava'
import { Sequelize } from 'sequelize'
import { isTransactionRolledBack, runWhenCommitted } from '../../../lib/sequelize/transaction.js'
import { sqliteOptions } from '../../support/database.js'

// A COMMIT that fails is the same on every database, and easily had on this one.
const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
test.after.always(() => sequelize.close())

test.serial('what follows a COMMIT is done once, and nothing where it fails', async (t) => {
  const told: string[] = []
  for (const name of ['committed', 'failed']) {
    const transaction = await sequelize.transaction()
    runWhenCommitted(
      transaction,
      () => told.push(`${name}: work`),
      () => told.push(`${name}: failure`),
    )
    // Then there is nothing to commit, which SQLite refuses.
    if (name === 'failed') await sequelize.query('ROLLBACK', { transaction })
    t.deepEqual(
      told.filter((each) => each.startsWith(name)),
      [],
    )
    const end = transaction.commit()
    if (name === 'failed') await t.throwsAsync(end)
    else await end
  }
  t.deepEqual(told, ['committed: work', 'failed: failure'])
})

test.serial('a savepoint is rolled back with the transaction around it', async (t) => {
  const outer = await sequelize.transaction()
  const inner = await sequelize.transaction({ transaction: outer })
  await inner.commit()
  t.false(isTransactionRolledBack(inner))
  await outer.rollback()
  t.true(isTransactionRolledBack(inner))
})
